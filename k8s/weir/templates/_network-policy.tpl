{{/*
NetworkPolicy of a component. Takes root, name, rules and egress. A rule has ports, and from (empty: everybody).
egress is a list of Kubernetes egress rules. It has an effect with networkPolicy.egress.enabled.
*/}}
{{- define "weir.networkPolicy" -}}
{{- $limitsEgress := .root.Values.networkPolicy.egress.enabled -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "weir.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "weir.selector" . | nindent 6 }}
  policyTypes: [Ingress{{ if $limitsEgress }}, Egress{{ end }}]
  ingress:
    {{- range .rules }}
    - ports:
        {{- range .ports }}
        - port: {{ . }}
          {{- if hasSuffix "-udp" . }}
          protocol: UDP
          {{- end }}
        {{- end }}
      {{- with .from }}
      from:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- end }}
  {{- if $limitsEgress }}
  egress:
    {{- toYaml .egress | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Pods of this release as peers, as JSON. Takes root and names (a list). */}}
{{- define "weir.peers" -}}
{{- $root := .root -}}
{{- $peers := list -}}
{{- range .names -}}
{{- $labels := include "weir.selector" (dict "root" $root "name" .) | fromYaml -}}
{{- $peers = append $peers (dict "podSelector" (dict "matchLabels" $labels)) -}}
{{- end -}}
{{- toJson $peers -}}
{{- end -}}

{{/* Who may reach the ops ports, as JSON: Prometheus, and the pod of `helm test`. Takes the root. */}}
{{- define "weir.opsPeers" -}}
{{- $test := include "weir.peers" (dict "root" . "names" (list "test")) | fromJsonArray -}}
{{- concat .Values.networkPolicy.metricsFrom $test | toJson -}}
{{- end -}}

{{/*
Egress rules of one of the three processes, as JSON: name service, the pods of this release that it needs, upstreams,
and those of the values. Takes root, component, pods (name → port) and upstreams (UPSTREAMS, or null).
*/}}
{{- define "weir.egress" -}}
{{- $policy := .root.Values.networkPolicy.egress -}}
{{- $root := .root -}}
{{- $names := list (dict "port" 53 "protocol" "UDP") (dict "port" 53 "protocol" "TCP") -}}
{{- $rules := list (dict "to" $policy.dnsTo "ports" $names) -}}
{{- range $name, $port := .pods -}}
{{- $peers := include "weir.peers" (dict "root" $root "names" (list $name)) | fromJsonArray -}}
{{- $rules = append $rules (dict "to" $peers "ports" (list (dict "port" $port "protocol" "TCP"))) -}}
{{- end -}}
{{- range .upstreams -}}
{{- $isTls := hasPrefix "tls://" . -}}
{{- $endpoint := . | trimPrefix "tls://" | splitList "#" | first -}}
{{- $port := ternary 853 53 $isTls -}}
{{- $address := $endpoint -}}
{{- if hasPrefix "[" $endpoint -}}
{{- $address = regexFind "[^][]+" $endpoint -}}
{{- with regexFind "[0-9]+$" (regexFind "]:[0-9]+$" $endpoint) -}}{{- $port = int . -}}{{- end -}}
{{- else if regexMatch "^[^:]+:[0-9]+$" $endpoint -}}
{{- $address = splitList ":" $endpoint | first -}}
{{- $port = splitList ":" $endpoint | last | int -}}
{{- end -}}
{{- $block := dict "cidr" (printf "%s/%s" $address (ternary "128" "32" (contains ":" $address))) -}}
{{- $ports := list (dict "port" $port "protocol" "TCP") -}}
{{- if not $isTls -}}
{{- $ports = append $ports (dict "port" $port "protocol" "UDP") -}}
{{- end -}}
{{- $rules = append $rules (dict "to" (list (dict "ipBlock" $block)) "ports" $ports) -}}
{{- end -}}
{{- concat $rules (index $policy .component) | toJson -}}
{{- end -}}

{{/* The bundled stores that the components use, as JSON: name → port. Takes root and stores (a list). */}}
{{- define "weir.bundledPorts" -}}
{{- $ports := dict -}}
{{- range .stores -}}
{{- if (index $.root.Values .).bundled -}}
{{- $_ := set $ports . . -}}
{{- end -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* The pods that resolvers and block pages use, as JSON: name → port. Takes the root. */}}
{{- define "weir.followedPods" -}}
{{- $pods := include "weir.bundledPorts" (dict "root" . "stores" (list "redis")) | fromJson -}}
{{- if .Values.controlPlane.enabled -}}
{{- $_ := set $pods "control-plane" "feed" -}}
{{- end -}}
{{- toJson $pods -}}
{{- end -}}
