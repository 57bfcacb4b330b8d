package main

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

// render executes each template except partials, and returns path → text.
func (chart *Chart) render(request Request) (map[string]string, error) {
	values := chart.values
	for _, over := range request.Values {
		values = mergeValues(values, over)
	}
	engine := &engine{objects: request.Objects}
	engine.set = template.New("chart").Option("missingkey=zero").Funcs(engine.functions())
	names := make([]string, 0, len(chart.templates))
	for name := range chart.templates {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if _, err := engine.set.New(name).Parse(chart.templates[name]); err != nil {
			return nil, err
		}
	}
	context := map[string]interface{}{
		"Values":       values,
		"Chart":        chart.metadata,
		"Files":        chart.files,
		"Release":      request.Release.context(),
		"Capabilities": map[string]interface{}{"KubeVersion": map[string]interface{}{"Version": request.KubeVersion}},
	}
	rendered := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		context["Template"] = map[string]interface{}{"Name": name, "BasePath": "templates"}
		text, err := engine.execute(name, context)
		if err != nil {
			return nil, err
		}
		rendered[name] = text
	}
	return rendered, nil
}

func (release Release) context() map[string]interface{} {
	return map[string]interface{}{
		"Name":      release.Name,
		"Namespace": release.Namespace,
		"IsUpgrade": release.IsUpgrade,
		"IsInstall": !release.IsUpgrade,
		"Revision":  release.Revision,
		"Service":   "Helm",
	}
}

type engine struct {
	set     *template.Template
	objects []map[string]interface{}
}

func (engine *engine) execute(name string, data interface{}) (string, error) {
	var text strings.Builder
	if err := engine.set.ExecuteTemplate(&text, name, data); err != nil {
		return "", err
	}
	return strings.ReplaceAll(text.String(), "<no value>", ""), nil
}

// functions returns the functions of sprig, without those that read the environment, and the functions of Helm.
func (engine *engine) functions() template.FuncMap {
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = engine.execute
	functions["tpl"] = engine.tpl
	functions["lookup"] = engine.lookup
	functions["required"] = required
	functions["toYaml"] = toYAML
	functions["fromYaml"] = fromYAML
	functions["fromJson"] = fromJSON
	functions["fromJsonArray"] = fromJSONArray
	return functions
}

func (engine *engine) tpl(text string, data interface{}) (string, error) {
	set, err := engine.set.Clone()
	if err != nil {
		return "", err
	}
	parsed, err := set.New("tpl").Parse(text)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = parsed.Execute(&out, data)
	return strings.ReplaceAll(out.String(), "<no value>", ""), err
}

// lookup returns one object of the cluster, or an empty map if it does not exist.
func (engine *engine) lookup(apiVersion, kind, namespace, name string) map[string]interface{} {
	for _, object := range engine.objects {
		metadata, _ := object["metadata"].(map[string]interface{})
		isKind := object["apiVersion"] == apiVersion && object["kind"] == kind
		if isKind && metadata["namespace"] == namespace && metadata["name"] == name {
			return object
		}
	}
	return map[string]interface{}{}
}

func required(message string, value interface{}) (interface{}, error) {
	if value == nil || value == "" {
		return nil, fmt.Errorf("%s", message)
	}
	return value, nil
}
