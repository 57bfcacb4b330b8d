{{/* Service by which Prometheus finds all pods of a component, ready or not. Takes root, name and port. */}}
{{- define "weir.opsService" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "weir.metadata" (merge (dict "suffix" "ops" "labels" (dict "weir/metrics" .name)) .) | nindent 2 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "weir.selector" . | nindent 4 }}
  ports:
    - name: ops
      port: {{ .port }}
      targetPort: ops
{{- end -}}
