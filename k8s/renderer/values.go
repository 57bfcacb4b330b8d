package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"gopkg.in/yaml.v3"
)

// parseMetadata returns `.Chart`: the keys of Chart.yaml with an upper-case first letter.
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

// parseChartValues parses values.yaml. As in Helm its numbers are json.Number. Numbers of other files are float64.
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

// mergeValues returns `under` with `over` applied: maps are merged, null removes a key, any other value replaces.
func mergeValues(under, over map[string]interface{}) map[string]interface{} {
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
			merged[key] = mergeValues(underMap, overMap)
		default:
			merged[key] = value
		}
	}
	return merged
}

func toYAML(value interface{}) (string, error) {
	// Converts through JSON, as Helm does, so that keys are sorted and Go types disappear.
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

// blockStyle replaces the flow style of JSON with block style. Strings that look like other types stay quoted.
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
