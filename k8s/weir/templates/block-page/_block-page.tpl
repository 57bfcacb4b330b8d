{{/* Volume with the custom pages, as a JSON object. It is empty if there are no custom pages. Takes the root. */}}
{{- define "weir.blockPage.content" -}}
{{- $values := .Values.blockPage -}}
{{- if $values.pages -}}
{{- $items := list -}}
{{- range $id := keys $values.pages | sortAlpha -}}
{{- $items = append $items (dict "key" (printf "%s.index.html" $id) "path" (printf "%s/index.html" $id)) -}}
{{- end -}}
{{- $name := printf "%s-block-page-content" (include "weir.fullname" .) -}}
{{- toJson (dict "configMap" (dict "name" $name "items" $items)) -}}
{{- else -}}
{{- toJson $values.content -}}
{{- end -}}
{{- end -}}

{{/* Pod template of the block page. Takes the root. */}}
{{- define "weir.blockPage.pod" -}}
{{- $values := .Values.blockPage -}}
{{- $settings := dict "BLOCK_PAGE_HOST" .Values.listen "OPS_HOST" .Values.listen "DATA_DIR" "/data" -}}
{{- /* Resolvers and block pages must decide in the same way. */ -}}
{{- range $name := list "SCHEDULE_TIMEZONE" "INSPECT_CNAME" "ORDERS_PAGE" "UPSTREAMS" -}}
{{- if hasKey $.Values.resolver.env $name -}}
{{- $_ := set $settings $name (get $.Values.resolver.env $name) -}}
{{- end -}}
{{- end -}}
{{- if .Values.controlPlane.enabled -}}
{{- $_ := set $settings "FEED_URL" (include "weir.feedUrl" .) -}}
{{- end -}}
{{- $volumes := list (dict "name" "data" "emptyDir" dict) -}}
{{- $mounts := list (dict "name" "data" "mountPath" "/data") -}}
{{- if and .Values.controlPlane.enabled .Values.controlPlane.feedTlsSecret -}}
{{- $_ := set $settings "FEED_CA" "/etc/weir/feed/ca.crt" -}}
{{- $volumes = append $volumes (include "weir.feedAuthorities" . | fromJson) -}}
{{- $mounts = append $mounts (dict "name" "feed-ca" "mountPath" "/etc/weir/feed" "readOnly" true) -}}
{{- end -}}
{{- $content := include "weir.blockPage.content" . | fromJson -}}
{{- if $content -}}
{{- $_ := set $settings "BLOCK_PAGE_CONTENT" "/etc/weir/pages" -}}
{{- $volumes = append $volumes (merge (dict "name" "pages") $content) -}}
{{- $mounts = append $mounts (dict "name" "pages" "mountPath" "/etc/weir/pages" "readOnly" true) -}}
{{- end -}}
{{- $ports := list
  (dict "name" "http" "containerPort" $values.env.BLOCK_PAGE_PORT)
  (dict "name" "ops" "containerPort" $values.env.OPS_PORT) -}}
{{- with $values.env.BLOCK_PAGE_HTTPS_PORT -}}
{{- $ports = append $ports (dict "name" "https" "containerPort" .) -}}
{{- end -}}
{{- include "weir.podTemplate" (dict
  "root" . "name" "block-page" "component" "blockPage" "settings" $settings "podFields" dict
  "ports" $ports "volumes" $volumes "mounts" $mounts
) -}}
{{- end -}}
