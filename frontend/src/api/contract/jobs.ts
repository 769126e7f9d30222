import type { Get, InProject, Listing, PageQuery, Person, Send } from './shapes';

export interface Resources {
  cpus?: number;
  memory_bytes?: number;
  gpus?: number;
}

export interface RunInput {
  alias: string;
  dataset: string;
  ref: string;
}

export interface RunShort {
  id: string;
  number: number;
  name: string;
  state: string;
  workflow: string | null;
  created_by: Person | null;
  datasets: RunInput[];
  resources: Resources;
  node: string | null;
  /** 0 to 1. */
  progress: number | null;
  progress_text: string;
  duration_s: number | null;
  failure_class: string | null;
  failure_reason: string | null;
  metrics_summary: Record<string, number>;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  attempts: number;
  tags?: string[];
}

export interface Evidence {
  tail?: string;
  traceback?: string;
}

export interface Attempt {
  id: string;
  number: number;
  state: string;
  node: string | null;
  exit_code: number | null;
  signal: string | number | null;
  failure_class: string | null;
  failure_reason: string | null;
  started_at: string | null;
  finished_at: string | null;
  resume_checkpoint?: string | null;
  log_complete?: boolean;
}

export interface CodeSnapshot {
  id: string;
  digest: string;
  size_bytes: number;
  files_count: number;
  git?: { commit?: string; branch?: string; dirty?: boolean } | null;
}

export interface Run extends Omit<RunShort, 'attempts'> {
  parameters: Record<string, unknown>;
  command: string[];
  runtime: { digest: string; state: string; requirements?: string } | null;
  code: CodeSnapshot | null;
  /** Values may be withheld by the server: only the names are shown. */
  env: Record<string, string> | string[];
  suggestion: string | null;
  evidence: Evidence | string | null;
  attempts: Attempt[];
  outputs_count: number;
  model_versions: { model: string; number: number }[];
  timeout_s?: number | null;
  max_retries?: number | null;
}

export type ParameterType = 'int' | 'float' | 'string' | 'bool' | 'enum' | 'dataset' | 'model';

export interface Parameter {
  name: string;
  type: ParameterType;
  title: string;
  help: string;
  default?: unknown;
  min?: number | null;
  max?: number | null;
  choices?: (string | number)[] | null;
  required: boolean;
}

export interface Workflow {
  slug: string;
  version: number | string;
  title: string;
  description: string;
  parameters: Parameter[];
  resources: Resources;
  /** The same words in other languages, by language code. */
  translations?: Record<string, WorkflowText>;
}

export interface WorkflowText {
  title?: string;
  description?: string;
  parameters?: Record<string, { title?: string; help?: string }>;
}

export interface RunRequest {
  name?: string;
  workflow?: string;
  parameters?: Record<string, unknown>;
  command?: string[];
  code_snapshot?: string;
  requirements?: string;
  datasets?: Record<string, string>;
  resources?: Resources;
  env?: Record<string, string>;
  timeout_s?: number;
  max_retries?: number;
  tags?: string[];
}

export interface Preview {
  valid: boolean;
  errors: Record<string, string[] | string>;
  placement: { cluster: string; node: string | null; why: string } | null;
  queue_position: number | null;
  warm: { bytes_missing: number; coverage: number } | null;
  runtime: { digest: string; state: string } | null;
}

export interface Explanation {
  answer: string;
  reasons: { kind: string; text: string; action: string }[];
}

export interface RunEvent {
  seq: number;
  kind: string;
  text: string;
  attempt: number | string | null;
  data: Record<string, unknown>;
  at: string;
}

export interface Metric {
  key: string;
  kind: 'user' | 'system';
  n: number;
  last: number | null;
  last_step: number | null;
  vmin: number | null;
  vmax: number | null;
  step_min: number;
  step_max: number;
}

export interface MetricSeries {
  key: string;
  steps: number[];
  values: (number | null)[];
  /** Unix time in milliseconds. */
  ts: number[];
  n: number;
  downsampled: boolean;
}

export interface SeriesQuery {
  key: string[];
  points?: number;
  from_step?: number;
  to_step?: number;
  since_n?: number;
}

export interface Artifact {
  id: string;
  path: string;
  size_bytes: number;
  sha256: string;
  kind: string;
  state: string;
  step: number | null;
  download_url: string | null;
  created_at: string;
}

export interface LogFrameRow {
  stream: string;
  seq: number;
  byte_off: number;
  ts_ns: number;
  text: string;
  fd?: number;
}

export interface LogRead {
  attempt: string | number;
  streams: { stream: string; bytes: number; lines: number; eof: boolean }[];
  frames: LogFrameRow[];
  /** Byte offset to read from next. */
  next: number;
  eof: boolean;
}

export interface LogQuery {
  attempt?: string;
  stream?: string;
  from?: number;
  limit_bytes?: number;
  q?: string;
}

export interface ClusterNode {
  name: string;
  cpu_count: number;
  memory_bytes: number;
  gpu_count: number;
  gpu_model: string;
  schedulable: boolean;
  used: { cpus: number; memory_bytes: number; gpus: number };
}

export interface Cluster {
  id: string;
  name: string;
  kind: string;
  state: string;
  nodes: ClusterNode[];
}

export interface RunQuery extends PageQuery {
  state?: string;
  q?: string;
  tag?: string;
  created_by?: string;
}

interface ById {
  id: string;
}

export interface JobPaths {
  '/api/v1/workflows/': { get: Get<Listing<Workflow>, undefined, { project?: string }> };
  '/api/v1/workflows/{slug}/': { get: Get<Workflow, { slug: string }> };
  '/api/v1/clusters/': { get: Get<Listing<Cluster>, undefined, PageQuery> };
  '/api/v1/projects/{p}/runs/': {
    get: Get<Listing<RunShort>, InProject, RunQuery>;
    post: Send<Run, RunRequest, InProject>;
  };
  '/api/v1/projects/{p}/runs/preview/': { post: Send<Preview, RunRequest, InProject> };
  '/api/v1/runs/{id}/': { get: Get<Run, ById> };
  '/api/v1/runs/{id}/cancel/': { post: Send<Run, undefined, ById> };
  '/api/v1/runs/{id}/retry/': { post: Send<Run, undefined, ById> };
  '/api/v1/runs/{id}/explain/': { get: Get<Explanation, ById> };
  '/api/v1/runs/{id}/events/': { get: Get<Listing<RunEvent>, ById, PageQuery> };
  '/api/v1/runs/{id}/metrics/': { get: Get<Metric[], ById> };
  '/api/v1/runs/{id}/metrics/series/': { get: Get<{ series: MetricSeries[] }, ById, SeriesQuery> };
  '/api/v1/runs/{id}/files/': { get: Get<Listing<Artifact>, ById, PageQuery> };
  '/api/v1/runs/{id}/logs/': { get: Get<LogRead, ById, LogQuery> };
}
