package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// parseMetadata gives `.Chart`: the keys of Chart.yaml begin with a capital there.
func parseMetadata(text string) (map[string]interface{}, error) {
	parsed := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return nil, err
	}
	metadata := map[string]interface{}{}
	for key, value := range parsed {
		metadata[strings.ToUpper(key[:1])+key[1:]] = value
	}
	return metadata, nil
}

// parseChartValues reads values.yaml. As in Helm its numbers are json.Number; those of other files are float64.
func parseChartValues(text string) (map[string]interface{}, error) {
	values := map[string]interface{}{}
	parsed := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(parsed)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	return values, decoder.Decode(&values)
}

// overlay lays values over others: maps are merged, a null takes a key away, anything else takes the place of what was.
func overlay(under, over map[string]interface{}) map[string]interface{} {
	merged := map[string]interface{}{}
	for key, value := range under {
		merged[key] = value
	}
	for key, value := range over {
		underMap, isUnderMap := merged[key].(map[string]interface{})
		overMap, isOverMap := value.(map[string]interface{})
		switch {
		case value == nil:
			delete(merged, key)
		case isUnderMap && isOverMap:
			merged[key] = overlay(underMap, overMap)
		default:
			merged[key] = value
		}
	}
	return merged
}

func toYAML(value interface{}) (string, error) {
	// By way of JSON, as Helm does it: keys in order, no types of Go.
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	var plain yaml.Node
	if err := yaml.Unmarshal(encoded, &plain); err != nil {
		return "", err
	}
	blockStyle(&plain)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&plain); err != nil {
		return "", err
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}

// blockStyle undoes the style that JSON has in YAML. A text that would be taken for something else is quoted anyway.
func blockStyle(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode || len(node.Content) > 0 {
		node.Style = 0
	}
	for _, child := range node.Content {
		blockStyle(child)
	}
}

func fromYAML(text string) map[string]interface{} {
	parsed := map[string]interface{}{}
	if err := yaml.Unmarshal([]byte(text), &parsed); err != nil {
		return map[string]interface{}{"Error": err.Error()}
	}
	return parsed
}

func fromJSON(text string) map[string]interface{} {
	parsed := map[string]interface{}{}
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return map[string]interface{}{"Error": err.Error()}
	}
	return parsed
}

func fromJSONArray(text string) []interface{} {
	parsed := []interface{}{}
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return []interface{}{err.Error()}
	}
	return parsed
}
