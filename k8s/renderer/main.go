// Renders the chart as `helm template` does, for machines without Helm: text/template, sprig, and those functions of
// Helm that the chart uses. Reads a request on standard input and writes the rendered files on standard output, both JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Request says which chart to render, and for what.
type Request struct {
	Chart string `json:"chart"`
	// Laid over the chart's values.yaml, one after the other.
	Values  []map[string]interface{} `json:"values"`
	Release Release                  `json:"release"`
	// Such as v1.30.0.
	KubeVersion string `json:"kubeVersion"`
	// What `lookup` finds.
	Objects []map[string]interface{} `json:"objects"`
}

// Release is `.Release` of the templates.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	IsUpgrade bool   `json:"isUpgrade"`
	Revision  int    `json:"revision"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var request Request
	if err := json.NewDecoder(in).Decode(&request); err != nil {
		return fmt.Errorf("the request cannot be read: %w", err)
	}
	chart, err := loadChart(request.Chart)
	if err != nil {
		return err
	}
	files, err := chart.render(request)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(files)
}
