import type { Get, InProject, Listing, PageQuery, Person, Send } from './shapes';

export interface VersionLayer {
  name: string;
  kind: string;
  rows: number;
  content: string;
}

export interface Version {
  id: string;
  /** Null on branches other than `main`. */
  number: number | null;
  ref: string;
  commit: string;
  content_digest: string;
  file_count: number;
  size_bytes: number;
  added: number;
  removed: number;
  changed: number;
  message: string;
  author: Person | null;
  created_at: string;
  layers: VersionLayer[];
  provenance: Record<string, unknown>;
  parents: string[];
  /** Packs whose bytes turned out not to match their digest. */
  quarantined_packs?: number;
}

export type VersionShort = Pick<Version, 'id' | 'number' | 'ref' | 'file_count' | 'size_bytes' | 'created_at'> &
  Partial<Pick<Version, 'author' | 'message' | 'commit'>>;

export interface Dataset {
  id: string;
  name: string;
  description: string;
  project: string;
  latest: VersionShort | null;
  versions_count: number;
  created_at: string;
  updated_at: string;
}

export interface Branch {
  name: string;
  head: VersionShort | null;
}

export interface Tag {
  name: string;
  version: VersionShort | null;
}

export interface Entry {
  path: string;
  size_bytes: number;
  digest: string;
  media_type: string;
  label: string | null;
  split: string | null;
  attributes: Record<string, unknown>;
  media_url: string;
  thumb_url: string | null;
}

export interface Folder {
  name: string;
  prefix: string;
}

export interface EntryListing extends Listing<Entry> {
  folders: Folder[];
  total: number;
  /** Echoed when the server took `offset`; without it pages are reached by cursor only. */
  offset?: number;
}

export interface EntryQuery extends PageQuery {
  prefix?: string;
  delimiter?: string;
  label?: string;
  split?: string;
  labelled?: boolean;
  offset?: number;
}

export interface VersionStats {
  labels: Record<string, number>;
  splits: Record<string, number>;
  media_types: Record<string, number>;
  unlabelled: number;
  /** Files whose bytes do not match their type. */
  unreadable: number;
}

export type DiffKind = 'added' | 'removed' | 'changed' | 'renamed' | 'labels_changed';

export interface DiffRow {
  kind: DiffKind;
  path: string;
  old_path?: string | null;
  old?: Entry | null;
  new?: Entry | null;
}

export interface DiffListing extends Listing<DiffRow> {
  summary: Record<DiffKind, number>;
}

export interface CacheRecord {
  node: string;
  packs_total: number;
  packs_present: number;
  bytes_total: number;
  bytes_present: number;
  /** 0 to 1. */
  coverage: number;
  state: string;
  rate_bytes_s: number;
  eta_s: number | null;
  error: string | null;
}

interface InDataset extends InProject {
  d: string;
}
interface AtRef extends InDataset {
  ref: string;
}
type DiffQuery = PageQuery & { from: string; to: string; kind?: string };

export interface DatasetPaths {
  '/api/v1/projects/{p}/datasets/': {
    get: Get<Listing<Dataset>, InProject, PageQuery & { q?: string }>;
    post: Send<Dataset, { name: string; description: string }, InProject>;
  };
  '/api/v1/projects/{p}/datasets/{d}/': { get: Get<Dataset, InDataset> };
  '/api/v1/projects/{p}/datasets/{d}/versions/': {
    get: Get<Listing<Version>, InDataset, PageQuery & { branch?: string }>;
  };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/': { get: Get<Version, AtRef> };
  '/api/v1/projects/{p}/datasets/{d}/branches/': { get: Get<Listing<Branch>, InDataset, PageQuery> };
  '/api/v1/projects/{p}/datasets/{d}/tags/': { get: Get<Listing<Tag>, InDataset, PageQuery> };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/entries/': { get: Get<EntryListing, AtRef, EntryQuery> };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/entries/at/': { get: Get<Entry, AtRef, { path: string }> };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/stats/': { get: Get<VersionStats, AtRef> };
  '/api/v1/projects/{p}/datasets/{d}/diff/': { get: Get<DiffListing, InDataset, DiffQuery> };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/cache/': { get: Get<CacheRecord[], AtRef> };
  '/api/v1/projects/{p}/datasets/{d}/versions/{ref}/warm/': { post: Send<CacheRecord[], undefined, AtRef> };
}
