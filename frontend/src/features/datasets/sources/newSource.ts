import type { NewSource, SourceProbe } from '@/api/contract/datasets';

export interface SourceForm {
  name: string;
  url: string;
  dataset: string;
  endpoint: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
  /** Patterns, separated by spaces or commas. */
  include: string;
  exclude: string;
  folderLabels: boolean;
  every_s: string;
}

const patterns = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** What the form says of the place; what a kind of place does not have is left out. */
export function sourceProbe(form: SourceForm): SourceProbe {
  const url = form.url.trim();
  if (!url.startsWith('s3://')) return { url, endpoint: '', region: '' };
  const keys = form.access_key_id
    ? { access_key_id: form.access_key_id.trim(), secret_access_key: form.secret_access_key.trim() }
    : {};
  return { url, endpoint: form.endpoint.trim(), region: form.region.trim(), ...keys };
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
