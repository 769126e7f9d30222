{{- define "atom.labels" -}}
app.kubernetes.io/name: atom
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "atom.image" -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}

{{/* The server as pods of this cluster reach it. */}}
{{- define "atom.apiUrl" -}}
{{- if hasPrefix "https://" .Values.publicUrl }}{{ .Values.publicUrl }}{{ else }}http://{{ .Release.Name }}-web.{{ .Release.Namespace }}.svc:8000{{ end }}
{{- end }}

{{- define "atom.host" -}}
{{ regexReplaceAll ":[0-9]+$" (urlParse .Values.publicUrl).host "" }}
{{- end }}

{{- define "atom.secret" -}}
{{- $name := index .root.Values.secrets .part -}}
{{- if .root.Values.trial.enabled -}}{{ .root.Release.Name }}-trial
{{- else -}}{{ required (printf "Set secrets.%s to the name of a Secret, or trial.enabled." .part) $name }}
{{- end -}}
{{- end }}

{{- define "atom.secretEnv" -}}
{{- $root := . }}
{{- range list (list "application" "ATOM_SECRET_KEY") (list "application" "ATOM_ENCRYPTION_KEY") (list "application" "ATOM_METRICS_TOKEN") (list "database" "DATABASE_URL") (list "valkey" "REDIS_URL") (list "s3" "S3_ACCESS_KEY_ID") (list "s3" "S3_SECRET_ACCESS_KEY") }}
- name: {{ index . 1 }}
  valueFrom:
    secretKeyRef:
      name: {{ include "atom.secret" (dict "root" $root "part" (index . 0)) }}
      key: {{ index . 1 }}
{{- end }}
{{- end }}

{{- define "atom.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "atom.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* One container of Atom: root, name, command, env, probe, resources. */}}
{{- define "atom.container" -}}
- name: {{ .name }}
  image: {{ include "atom.image" .root.Values.image | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: {{ toJson .command }}
  envFrom:
    - configMapRef: {name: {{ .root.Release.Name }}-settings}
  env:
    {{- include "atom.secretEnv" .root | nindent 4 }}
    {{- range $name, $value := .env }}
    - name: {{ $name }}
      value: {{ $value | quote }}
    {{- end }}
    {{- with .admin }}
    - name: ATOM_ADMIN_PASSWORD
      valueFrom:
        secretKeyRef: {name: {{ . }}, key: ATOM_ADMIN_PASSWORD}
    {{- end }}
  {{- with .ports }}
  ports: {{ toJson . }}
  {{- end }}
  {{- with .probes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  resources: {{ toJson .resources }}
  securityContext:
    {{- include "atom.security" . | nindent 4 }}
  volumeMounts:
    - {name: home, mountPath: /var/lib/atom}
    - {name: temporary, mountPath: /tmp}
{{- end }}

{{/* The fields that pods of Atom share: root, account. */}}
{{- define "atom.pod" -}}
{{- if .account }}
serviceAccountName: {{ .root.Release.Name }}-atom
{{- end }}
automountServiceAccountToken: {{ .account }}
securityContext:
  {{- include "atom.podSecurity" 10001 | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
volumes:
  - name: home
    emptyDir: {sizeLimit: {{ .root.Values.homeSize }}}
  - name: temporary
    emptyDir: {}
{{- end }}

{{- define "atom.wait" -}}
{{- $script := "mkdir -p /var/lib/atom/run; until python manage.py migrate --check; do sleep 3; done" -}}
{{- if .static }}{{ $script = printf "%s; exec python manage.py collectstatic --noinput" $script }}{{ end -}}
{{- include "atom.container" (dict "root" .root "name" "wait-for-migrations" "command" (list "sh" "-c" $script) "resources" .root.Values.migrate.resources) }}
{{- end }}

{{- define "atom.readyProbes" -}}
readinessProbe:
  exec: {command: [test, -f, /var/lib/atom/run/ready]}
startupProbe:
  exec: {command: [test, -f, /var/lib/atom/run/ready]}
  periodSeconds: 5
  failureThreshold: 36
{{- end }}

{{/* The main loop touches the file every few seconds, whether or not services answer it. */}}
{{- define "atom.aliveProbe" -}}
livenessProbe:
  exec: {command: [sh, -c, 'test -n "$(find /var/lib/atom/run/alive -mmin -2)"']}
  periodSeconds: 30
  timeoutSeconds: 5
  failureThreshold: 4
{{- end }}

{{/* A Deployment with one container: root, part, replicas, command, env, account. */}}
{{- define "atom.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels:
    {{- include "atom.labels" . | nindent 4 }}
spec:
  {{- if .replicas }}
  replicas: {{ .replicas }}
  {{- end }}
  strategy: {type: {{ .strategy }}}
  selector:
    matchLabels:
      {{- include "atom.labels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "atom.labels" . | nindent 8 }}
      annotations:
        atom/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
    spec:
      {{- include "atom.pod" . | nindent 6 }}
      initContainers:
        {{- include "atom.wait" (dict "root" .root "static" false) | nindent 8 }}
      containers:
        {{- $files := dict "ATOM_READY_FILE" "/var/lib/atom/run/ready" "ATOM_ALIVE_FILE" "/var/lib/atom/run/alive" }}
        {{- $probes := merge (include "atom.readyProbes" . | fromYaml) (include "atom.aliveProbe" . | fromYaml) }}
        {{- include "atom.container" (dict "root" .root "name" .part "command" .command "env" (merge $files .env) "resources" (index .root.Values .part).resources "probes" $probes) | nindent 8 }}
{{- end }}

{{- define "atom.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .root.Release.Name }}-{{ .part }}
  labels:
    {{- include "atom.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "atom.labels" . | nindent 6 }}
{{- end }}
