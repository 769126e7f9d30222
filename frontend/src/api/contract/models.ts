import type { Get, InProject, Listing, PageQuery, Person, Send } from './shapes';

export interface Evaluation {
  id: string;
  run: string | null;
  dataset: string;
  ref: string;
  split: string;
  n: number;
  /** 0 to 1. */
  accuracy: number;
  metrics: Record<string, number>;
  /** `matrix[truth][predicted]` counts, in the order of `labels`. */
  confusion: { labels: string[]; matrix: number[][] } | null;
  created_at: string;
}

export interface ModelVersion {
  id: string;
  model: string;
  number: number;
  run: { id: string; number: number; name: string } | string | null;
  size_bytes: number;
  sha256: string;
  digest: string;
  framework: string;
  metrics: Record<string, number>;
  signature: Record<string, unknown> | null;
  description: string;
  created_by: Person | null;
  created_at: string;
  aliases: string[];
  evaluations?: Evaluation[];
}

export interface Model {
  id: string;
  name: string;
  description?: string;
  latest: ModelVersion | null;
  versions_count: number;
  aliases: { name: string; version: number }[];
  created_at: string;
  updated_at: string;
}

export interface AliasChange {
  alias: string;
  old_version: number | null;
  new_version: number | null;
  actor: Person | null;
  at: string;
}

export type LineageKind =
  | 'label_task'
  | 'dataset_version'
  | 'run'
  | 'code'
  | 'runtime'
  | 'model_version'
  | 'evaluation'
  | 'artifact';

export interface LineageNode {
  id: string;
  kind: LineageKind;
  title: string;
  subtitle: string;
  /** Where the portal shows it; null when it has no page. */
  url: string | null;
  digest: string | null;
}

export interface Lineage {
  nodes: LineageNode[];
  edges: { from: string; to: string; label: string }[];
}

export interface ModelFile {
  path: string;
  url: string;
  sha256: string;
  size_bytes: number;
}

/** A model of one file has its address at the top; one of several lists them. */
export interface ModelDownload {
  url?: string;
  sha256?: string;
  size_bytes?: number;
  files?: ModelFile[];
}

interface InModel extends InProject {
  m: string;
}
interface AtVersion extends InModel {
  n: string;
}
interface AtAlias extends InModel {
  alias: string;
}

export interface ModelPaths {
  '/api/v1/projects/{p}/models/': {
    get: Get<Listing<Model>, InProject, PageQuery & { q?: string }>;
    post: Send<Model, { name: string }, InProject>;
  };
  '/api/v1/projects/{p}/models/{m}/': { get: Get<Model, InModel> };
  '/api/v1/projects/{p}/models/{m}/versions/': {
    get: Get<Listing<ModelVersion>, InModel, PageQuery>;
    post: Send<ModelVersion, { run: string; artifact_path: string; description: string }, InModel>;
  };
  '/api/v1/projects/{p}/models/{m}/versions/{n}/': { get: Get<ModelVersion, AtVersion> };
  '/api/v1/projects/{p}/models/{m}/versions/{n}/lineage/': { get: Get<Lineage, AtVersion> };
  '/api/v1/projects/{p}/models/{m}/versions/{n}/evaluations/': { get: Get<Listing<Evaluation>, AtVersion, PageQuery> };
  '/api/v1/projects/{p}/models/{m}/versions/{n}/download/': {
    get: Get<ModelDownload, AtVersion>;
  };
  '/api/v1/projects/{p}/models/{m}/aliases/{alias}/': {
    put: Send<{ name: string; version: number }, { version: number }, AtAlias>;
    delete: Send<undefined, undefined, AtAlias>;
  };
  '/api/v1/projects/{p}/models/{m}/aliases/history/': { get: Get<Listing<AliasChange>, InModel, PageQuery> };
}
