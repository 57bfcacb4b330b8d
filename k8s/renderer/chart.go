package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Chart is a chart loaded from disk. Keys of templates and files are paths relative to its folder, with slashes.
type Chart struct {
	metadata  map[string]interface{}
	values    map[string]interface{}
	templates map[string]string
	files     Files
}

// Files is `.Files` of the templates: everything in the chart that is not a template.
type Files map[string]string

// Get returns the text of a file, or an empty string if the file does not exist, as Helm does.
func (files Files) Get(name string) string { return files[name] }

func loadChart(folder string) (*Chart, error) {
	chart := &Chart{templates: map[string]string{}, files: Files{}}
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return chart.add(filepath.ToSlash(name), string(text))
	})
	if err == nil && (chart.metadata == nil || chart.values == nil) {
		err = fmt.Errorf("%s is not a chart: Chart.yaml or values.yaml is missing", folder)
	}
	return chart, err
}

func (chart *Chart) add(name, text string) (err error) {
	switch {
	case name == "Chart.yaml":
		chart.metadata, err = parseMetadata(text)
	case name == "values.yaml":
		chart.values, err = parseChartValues(text)
	case strings.HasPrefix(name, "templates/"):
		chart.templates[name] = text
	default:
		chart.files[name] = text
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
