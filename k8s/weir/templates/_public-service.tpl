{{/* Type and address of a Service that is reached from outside the cluster. Takes the values of the service. */}}
{{- define "weir.publicService" -}}
type: {{ .type }}
{{- if ne .type "ClusterIP" }}
externalTrafficPolicy: {{ .externalTrafficPolicy }}
{{- end }}
{{- if eq .type "LoadBalancer" }}
{{- with .loadBalancerIP }}
loadBalancerIP: {{ . | quote }}
{{- end }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . | quote }}
{{- end }}
{{- with .loadBalancerSourceRanges }}
loadBalancerSourceRanges:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- end -}}
