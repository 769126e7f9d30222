import type { NewSource, SourceProbe } from '@/api/contract/datasets';

export interface SourceForm {
  name: string;
  url: string;
  dataset: string;
  endpoint: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
  account_key: string;
  sas_token: string;
  service_account: string;
  hdfs_user: string;
  delegation_token: string;
  /** Patterns, separated by spaces or commas. */
  include: string;
  exclude: string;
  folderLabels: boolean;
  every_s: string;
}

type Credential =
  | 'access_key_id'
  | 'secret_access_key'
  | 'account_key'
  | 'sas_token'
  | 'service_account'
  | 'hdfs_user'
  | 'delegation_token';

export interface PlaceKind {
  hasEndpoint: boolean;
  hasRegion: boolean;
  credentials: Credential[];
}

const NOTHING: PlaceKind = { hasEndpoint: false, hasRegion: false, credentials: [] };
const HDFS: PlaceKind = { ...NOTHING, credentials: ['hdfs_user', 'delegation_token'] };
const KINDS: Record<string, PlaceKind> = {
  s3: { hasEndpoint: true, hasRegion: true, credentials: ['access_key_id', 'secret_access_key'] },
  gs: { hasEndpoint: true, hasRegion: false, credentials: ['service_account'] },
  az: { hasEndpoint: true, hasRegion: false, credentials: ['account_key', 'sas_token'] },
  webhdfs: HDFS,
  swebhdfs: HDFS,
};

/** The fields that the kind of place has besides the address. */
export const placeKind = (url: string): PlaceKind => KINDS[url.trim().split('://')[0] ?? ''] ?? NOTHING;

const patterns = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** The place of the form; fields that its kind does not have are left out. */
export function sourceProbe(form: SourceForm): SourceProbe {
  const { hasEndpoint, hasRegion, credentials } = placeKind(form.url);
  const given = credentials.filter((name) => form[name].trim() !== '');
  return {
    url: form.url.trim(),
    endpoint: hasEndpoint ? form.endpoint.trim() : '',
    region: hasRegion ? form.region.trim() : '',
    ...Object.fromEntries(given.map((name) => [name, form[name].trim()])),
  };
}

export function newSource(form: SourceForm): NewSource {
  return {
    ...sourceProbe(form),
    name: form.name,
    dataset: form.dataset,
    branch: 'main',
    include: patterns(form.include),
    exclude: patterns(form.exclude),
    labels_from: form.folderLabels ? 'folder' : undefined,
    every_s: Number(form.every_s) || null,
  };
}
