{{/* Container ports for DNS, as a JSON list. Takes the root. */}}
{{- define "weir.resolver.ports" -}}
{{- $env := .Values.resolver.env -}}
{{- $ports := list
  (dict "name" "dns-udp" "containerPort" $env.DNS_PORT "protocol" "UDP")
  (dict "name" "dns-tcp" "containerPort" $env.DNS_PORT "protocol" "TCP") -}}
{{- with $env.DNS_TLS_PORT -}}
{{- $ports = append $ports (dict "name" "dns-tls" "containerPort" . "protocol" "TCP") -}}
{{- end -}}
{{- with $env.DNS_HTTPS_PORT -}}
{{- $ports = append $ports (dict "name" "dns-https" "containerPort" . "protocol" "TCP") -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{/* "true" if the resolver binds a port below 1024, otherwise empty. Takes the root. */}}
{{- define "weir.resolver.bindsLowPort" -}}
{{- range include "weir.resolver.ports" . | fromJsonArray -}}
{{- if lt (int .containerPort) 1024 }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/*
Pod template of the resolver. On the host network a resolver listens only on the addresses of the node, so that it does
not conflict with other servers there. For a port below 1024 it runs as root with one capability: other users lose the
capabilities that Kubernetes adds when the process starts. Takes the root.
*/}}
{{- define "weir.resolver.pod" -}}
{{- $values := .Values.resolver -}}
{{- $onHost := eq $values.kind "DaemonSet" -}}
{{- $settings := dict "DATA_DIR" "/data" -}}
{{- if .Values.controlPlane.enabled -}}
{{- $_ := set $settings "FEED_URL" (include "weir.feedUrl" .) -}}
{{- end -}}
{{- $volumes := list -}}
{{- $mounts := list (dict "name" "data" "mountPath" "/data") -}}
{{- if and $onHost $values.persistence.hostPath -}}
{{- $folder := dict "path" $values.persistence.hostPath "type" "DirectoryOrCreate" -}}
{{- $volumes = append $volumes (dict "name" "data" "hostPath" $folder) -}}
{{- else if or $onHost (not $values.persistence.enabled) -}}
{{- $volumes = append $volumes (dict "name" "data" "emptyDir" dict) -}}
{{- end -}}
{{- if and .Values.controlPlane.enabled .Values.controlPlane.feedTlsSecret -}}
{{- $_ := set $settings "FEED_CA" "/etc/weir/feed/ca.crt" -}}
{{- $volumes = append $volumes (include "weir.feedAuthorities" . | fromJson) -}}
{{- $mounts = append $mounts (dict "name" "feed-ca" "mountPath" "/etc/weir/feed" "readOnly" true) -}}
{{- end -}}
{{- if $values.tlsSecret -}}
{{- $_ := set $settings "DNS_TLS_CERT" "/etc/weir/tls/tls.crt" -}}
{{- $_ := set $settings "DNS_TLS_KEY" "/etc/weir/tls/tls.key" -}}
{{- $volumes = append $volumes (dict "name" "tls" "secret" (dict "secretName" $values.tlsSecret)) -}}
{{- $mounts = append $mounts (dict "name" "tls" "mountPath" "/etc/weir/tls" "readOnly" true) -}}
{{- end -}}
{{- if $values.allowedClients -}}
{{- $_ := set $settings "DNS_ALLOWED_CLIENTS_FILE" "/etc/weir/allowed-clients/networks" -}}
{{- $name := printf "%s-resolver-allowed-clients" (include "weir.fullname" .) -}}
{{- $volumes = append $volumes (dict "name" "allowed-clients" "configMap" (dict "name" $name)) -}}
{{- $mount := dict "name" "allowed-clients" "mountPath" "/etc/weir/allowed-clients" "readOnly" true -}}
{{- $mounts = append $mounts $mount -}}
{{- end -}}
{{- $opsPort := dict "name" "ops" "containerPort" $values.env.OPS_PORT -}}
{{- $ports := append (include "weir.resolver.ports" . | fromJsonArray) $opsPort -}}
{{- $pod := dict
  "root" . "name" "resolver" "component" "resolver" "settings" $settings "podFields" dict
  "ports" $ports "volumes" $volumes "mounts" $mounts -}}
{{- if $onHost -}}
{{- $_ := set $pod "hostNetwork" true -}}
{{- $_ := set $pod "podFields" (dict "DNS_HOST" "status.podIPs" "OPS_HOST" "status.podIP") -}}
{{- if include "weir.resolver.bindsLowPort" . -}}
{{- $_ := set $pod "podSecurity" (include "weir.resolver.rootSecurity" .) -}}
{{- $_ := set $pod "containerSecurity" (include "weir.resolver.lowPortSecurity" .) -}}
{{- end -}}
{{- else -}}
{{- $_ := set $settings "DNS_HOST" .Values.listen -}}
{{- if $values.env.DNS_DESIGNATED_NAME -}}
{{- $_ := set $settings "DNS_DESIGNATED_TLS_PORT" $values.service.ports.tls -}}
{{- $_ := set $settings "DNS_DESIGNATED_HTTPS_PORT" $values.service.ports.https -}}
{{- end -}}
{{- $_ := set $settings "OPS_HOST" .Values.listen -}}
{{- end -}}
{{- include "weir.podTemplate" $pod -}}
{{- end -}}

{{- define "weir.resolver.rootSecurity" -}}
runAsNonRoot: false
runAsUser: 0
runAsGroup: 0
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "weir.resolver.lowPortSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
  add: [NET_BIND_SERVICE]
{{- end -}}

{{/* Service of the resolvers. Takes root, suffix and protocols (a list): it gets the ports of these protocols. */}}
{{- define "weir.resolver.service" -}}
{{- $service := .root.Values.resolver.service -}}
{{- $protocols := .protocols -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "weir.metadata" (dict "root" .root "name" "resolver" "suffix" .suffix) | nindent 2 }}
  {{- with $service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "weir.publicService" $service | nindent 2 }}
  selector:
    {{- include "weir.selector" (dict "root" .root "name" "resolver") | nindent 4 }}
  ports:
    {{- range include "weir.resolver.ports" .root | fromJsonArray }}
    {{- if has .protocol $protocols }}
    - name: {{ .name }}
      port: {{ index $service.ports (.name | replace "dns-" "") }}
      targetPort: {{ .name }}
      protocol: {{ .protocol }}
    {{- end }}
    {{- end }}
{{- end -}}
