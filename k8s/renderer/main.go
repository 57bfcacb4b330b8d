// Renders the chart as `helm template` does, for machines without Helm. It uses text/template, sprig, and Go versions
// of the Helm functions that the chart uses. It reads a Request as JSON from standard input. It writes the rendered
// files as a JSON object to standard output: path → text.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Request names the chart and everything that its templates can read.
type Request struct {
	Chart string `json:"chart"`
	// Values that override values.yaml of the chart, applied in this order.
	Values  []map[string]interface{} `json:"values"`
	Release Release                  `json:"release"`
	// Version of Kubernetes, such as v1.30.0.
	KubeVersion string `json:"kubeVersion"`
	// Objects in the cluster, which `lookup` finds.
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
