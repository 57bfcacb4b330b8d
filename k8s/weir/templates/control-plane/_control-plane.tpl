{{/* Pod template of the control plane. Takes the root. */}}
{{- define "weir.controlPlane.pod" -}}
{{- $values := .Values.controlPlane -}}
{{- $settings := dict "MANAGEMENT_HOST" .Values.listen "FEED_HOST" .Values.listen "OPS_HOST" .Values.listen -}}
{{- $_ := set $settings "FEED_DIR" "/data" -}}
{{- /* It explains what resolvers answer. */ -}}
{{- range $name := list "SCHEDULE_TIMEZONE" "BLOCK_PAGE_IPV4" "BLOCK_PAGE_IPV6" "BLOCK_PAGE_ADDRESSES" "ORDERS_PAGE"
  "BLOCK_TTL" "BLOCK_EDE_TEXT" "RESOLVER_INFO_URL" "INSPECT_CNAME" "LOCAL_ZONES" "BLOCK_RESOLVER_DISCOVERY" "DNS_ALLOWED_CLIENTS" -}}
{{- if hasKey $.Values.resolver.env $name -}}
{{- $_ := set $settings $name (get $.Values.resolver.env $name) -}}
{{- end -}}
{{- end -}}
{{- $folder := dict "sizeLimit" $values.snapshotSizeLimit -}}
{{- $volumes := list (dict "name" "data" "emptyDir" $folder) -}}
{{- $mounts := list (dict "name" "data" "mountPath" "/data") -}}
{{- if $values.tlsSecret -}}
{{- $_ := set $settings "MANAGEMENT_TLS_CERT" "/etc/weir/tls/tls.crt" -}}
{{- $_ := set $settings "MANAGEMENT_TLS_KEY" "/etc/weir/tls/tls.key" -}}
{{- $volumes = append $volumes (dict "name" "tls" "secret" (dict "secretName" $values.tlsSecret)) -}}
{{- $mounts = append $mounts (dict "name" "tls" "mountPath" "/etc/weir/tls" "readOnly" true) -}}
{{- end -}}
{{- if $values.feedTlsSecret -}}
{{- $_ := set $settings "FEED_TLS_CERT" "/etc/weir/feed/tls.crt" -}}
{{- $_ := set $settings "FEED_TLS_KEY" "/etc/weir/feed/tls.key" -}}
{{- $volumes = append $volumes (dict "name" "feed-tls" "secret" (dict "secretName" $values.feedTlsSecret)) -}}
{{- $mounts = append $mounts (dict "name" "feed-tls" "mountPath" "/etc/weir/feed" "readOnly" true) -}}
{{- end -}}
{{- if $values.clientCaSecret -}}
{{- $_ := set $settings "MANAGEMENT_TLS_CLIENT_CA" "/etc/weir/clients/ca.crt" -}}
{{- $volumes = append $volumes (dict "name" "clients" "secret" (dict "secretName" $values.clientCaSecret)) -}}
{{- $mounts = append $mounts (dict "name" "clients" "mountPath" "/etc/weir/clients" "readOnly" true) -}}
{{- end -}}
{{- if $values.tokensSecret -}}
{{- $_ := set $settings "MANAGEMENT_TOKENS_FILE" "/etc/weir/tokens/tokens.yaml" -}}
{{- $volumes = append $volumes (dict "name" "tokens" "secret" (dict "secretName" $values.tokensSecret)) -}}
{{- $mounts = append $mounts (dict "name" "tokens" "mountPath" "/etc/weir/tokens" "readOnly" true) -}}
{{- end -}}
{{- with .Values.catalogue.sets -}}
{{- $_ := set $settings "CATALOGUE_SETS" (join "," .) -}}
{{- end -}}
{{- if $values.catalogue -}}
{{- $_ := set $settings "CATALOGUE" "/etc/weir/catalogue" -}}
{{- $volumes = append $volumes (merge (dict "name" "catalogue") $values.catalogue) -}}
{{- $mounts = append $mounts (dict "name" "catalogue" "mountPath" "/etc/weir/catalogue" "readOnly" true) -}}
{{- end -}}
{{- include "weir.podTemplate" (dict
  "root" . "name" "control-plane" "component" "controlPlane" "settings" $settings "podFields" dict
  "ports" (list
    (dict "name" "management" "containerPort" $values.env.MANAGEMENT_PORT)
    (dict "name" "feed" "containerPort" $values.env.FEED_PORT)
    (dict "name" "ops" "containerPort" $values.env.OPS_PORT))
  "volumes" $volumes "mounts" $mounts
) -}}
{{- end -}}
