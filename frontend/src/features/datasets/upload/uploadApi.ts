/** The requests of an upload to the server. */
import { api } from '@/api/client';
import type { CommitRequest, StoredFile, Upload, Version } from '@/api/contract/datasets';
import { ApiError, asApiError, readApiError } from '@/api/errors';
import { untilDone } from '@/shared/live/untilDone';
import { type FolderShape, splitOfPath } from './classFolders';
import type { Order } from './saved';

const DATASETS = '/api/v1/projects/{project}/datasets/';
const DATASET = '/api/v1/projects/{project}/datasets/{dataset}/';
const VERSIONS = '/api/v1/projects/{project}/datasets/{dataset}/versions/';
const STORED = '/api/v1/projects/{project}/datasets/{dataset}/versions/{ref}/stored-files/';
const UPLOADS = '/api/v1/projects/{project}/datasets/{dataset}/uploads/';
const PARTS = '/api/v1/projects/{project}/datasets/{dataset}/uploads/{upload_id}/parts/';
const COMPLETE = '/api/v1/projects/{project}/datasets/{dataset}/uploads/{upload_id}/complete/';
const COMMITS = '/api/v1/projects/{project}/datasets/{dataset}/commits/';

const EDITS = '/api/v1/projects/{project}/datasets/{dataset}/edits/';

const PATHS_AT_ONCE = 1000;
/** The server takes no more in one edit. */
const MOST_STEPS = 100;

export type SplitOf = Record<string, unknown> | null;

/** The options of the branch's last push: later ones go on with them. */
export interface Pushed {
  labels_from?: 'folder' | null;
  unlabelled_prefixes?: string[];
  split?: SplitOf;
}

/** Uploads into one dataset, whatever becomes of them. */
export class DatasetUploads {
  protected readonly path: { project: string; dataset: string };
  protected readonly signal: AbortSignal;

  constructor({ project, dataset }: { project: string; dataset: string }, signal: AbortSignal) {
    this.path = { project, dataset };
    this.signal = signal;
  }

  /** A new upload, or the one that was begun with these bytes; only an `open` one has something to send. */
  async begin(kind: 'pack' | 'changes' | 'labels', digest: string, size: number): Promise<Upload> {
    const body = { kind, digest, size_bytes: size };
    const { data } = await api.POST(UPLOADS, { params: { path: this.path }, body, signal: this.signal });
    return data as Upload;
  }

  /** Where a part goes: a path of this origin, good for an hour. */
  async partAddress(upload: string, number: number): Promise<string> {
    const params = { path: { ...this.path, upload_id: upload } };
    const body = { numbers: [number], through: 'portal' as const };
    const { data } = await api.POST(PARTS, { params, body, signal: this.signal });
    return data?.urls[String(number)] ?? '';
  }

  async complete(upload: string, parts: { n: number; etag: string }[]): Promise<void> {
    const params = { path: { ...this.path, upload_id: upload } };
    await api.POST(COMPLETE, { params, body: { parts }, signal: this.signal });
  }
}

export class UploadApi extends DatasetUploads {
  private readonly order: Order;

  constructor(order: Order, signal: AbortSignal) {
    super(order, signal);
    this.order = order;
  }

  /** Makes the dataset unless it is there. */
  async ensureDataset(): Promise<void> {
    const { project, dataset } = this.path;
    try {
      await api.GET(DATASET, { params: { path: this.path }, signal: this.signal });
    } catch (error) {
      if (asApiError(error).code !== 'not_found') throw error;
      await api.POST(DATASETS, { params: { path: { project } }, body: { name: dataset }, signal: this.signal });
    }
  }

  async head(): Promise<Version | null> {
    const query = { branch: this.order.branch, limit: 1 };
    const { data } = await api.GET(VERSIONS, { params: { path: this.path, query }, signal: this.signal });
    return data?.results[0] ?? null;
  }

  /** The files of a version at these paths. */
  async storedAt(ref: string, paths: readonly string[]): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    for (let at = 0; at < paths.length; at += PATHS_AT_ONCE) {
      const body = { paths: paths.slice(at, at + PATHS_AT_ONCE) };
      const { data } = await api.POST(STORED, { params: { path: { ...this.path, ref } }, body, signal: this.signal });
      found.push(...(data?.results ?? []));
    }
    return found;
  }

  /** Everything that a version has below a folder. */
  async storedBelow(ref: string, prefix: string): Promise<StoredFile[]> {
    const found: StoredFile[] = [];
    let cursor: string | undefined;
    do {
      const params = { path: { ...this.path, ref }, query: { prefix, cursor } };
      const { data } = await api.GET(STORED, { params, signal: this.signal });
      found.push(...(data?.results ?? []));
      cursor = data?.next ?? undefined;
    } while (cursor);
    return found;
  }

  /** Asks for the commit, and follows it to its end. A head that moved is an ApiError `head_moved`. */
  async commit(head: Version | null, changes: string, onStep: (step: CommitRequest) => void): Promise<CommitRequest> {
    const last = (head?.provenance ?? {}) as Pushed;
    const options = {
      labels_from: labelsFrom(this.order.labels, last),
      unlabelled_prefixes: last.unlabelled_prefixes ?? [],
      split: withoutRedraw(last.split),
    };
    try {
      return await this.ask(head, changes, options, onStep);
    } catch (error) {
      if (!options.split || !CANNOT_SPLIT.has(asApiError(error).code)) throw error;
      // This upload asks for no split: files that are gone leave it, the others keep theirs.
      return this.ask(head, changes, { ...options, split: null }, onStep);
    }
  }

  /** Gives files that are there already the splits of their folders; null if there is nothing to give. */
  async takeSplits(paths: readonly string[], onStep: (step: CommitRequest) => void): Promise<Version | null> {
    const edits = splitEdits(paths, this.order.splits);
    if (edits.length === 0) return null;
    const { data } = await api.POST(EDITS, {
      params: { path: this.path },
      body: { branch: this.order.branch, message: this.order.message, edits },
      signal: this.signal,
    });
    return (await untilDone(this.path, data as CommitRequest, onStep)).version;
  }

  private async ask(
    head: Version | null,
    changes: string,
    options: Required<Pushed>,
    onStep: (step: CommitRequest) => void,
  ): Promise<CommitRequest> {
    const body = {
      branch: this.order.branch,
      expected_head: head?.commit ?? null,
      message: this.order.message,
      changes_upload: changes,
      ...options,
      provenance: { kind: 'push', ...options, through: 'portal' },
    };
    // The client's types know no field of a split that a push stored.
    const { data } = await api.POST(COMMITS, { params: { path: this.path }, body: body as never, signal: this.signal });
    return untilDone(this.path, data as CommitRequest, onStep);
  }
}

/** The choice, else the option of the last push. */
export const labelsFrom = (chosen: boolean | undefined, last: Pushed): 'folder' | null =>
  chosen === undefined ? (last.labels_from ?? null) : chosen ? 'folder' : null;

interface SplitEdit {
  op: 'split';
  paths: string[];
  value: string;
}

/** Edits that put files into the splits of their folders; of very many files, the whole folders. */
export function splitEdits(paths: readonly string[], splits: FolderShape['splits'] | undefined): SplitEdit[] {
  const edits: SplitEdit[] = [];
  for (const [prefix, value] of splits ?? []) {
    const inside = paths.filter((path) => splitOfPath(path, splits) === value && path.startsWith(prefix));
    for (let at = 0; at < inside.length; at += PATHS_AT_ONCE)
      edits.push({ op: 'split', paths: inside.slice(at, at + PATHS_AT_ONCE), value });
  }
  if (edits.length <= MOST_STEPS) return edits;
  return (splits ?? []).map(([prefix, value]) => ({ op: 'split', paths: [prefix], value }));
}

/** Whether files that are there already are to get their folders' names as labels, which the last push did not give. */
export const asksForLabels = (chosen: boolean | undefined, head: Version | null): boolean => {
  const last = (head?.provenance ?? {}) as Pushed;
  return labelsFrom(chosen, last) === 'folder' && last.labels_from !== 'folder';
};

const CANNOT_SPLIT = new Set(['split_empty', 'split_impossible', 'split_unlabelled', 'split_redraw']);

function withoutRedraw(split: SplitOf | undefined): SplitOf {
  if (!split) return null;
  // Drawing anew was for that push alone.
  const { redraw: _, ...rest } = split;
  return rest;
}

/** PUTs a part and returns its etag; `onBytes` hears how many have left. */
export function putPart(
  address: string,
  data: ArrayBuffer,
  signal: AbortSignal,
  onBytes: (sent: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const onAbort = () => request.abort();
    signal.addEventListener('abort', onAbort);
    request.upload.onprogress = ({ loaded }) => onBytes(loaded);
    request.onloadend = () => {
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) reject(signal.reason);
      else if (request.status === 200) resolve((request.getResponseHeader('etag') ?? '').replaceAll('"', ''));
      else if (request.status === 0) reject(new ApiError({ status: 0, code: 'unreachable', title: '' }));
      else readApiError(new Response(request.responseText, { status: request.status })).then(reject, reject);
    };
    request.open('PUT', address);
    // As a blob: tools that look at requests would keep the bytes otherwise.
    request.send(new Blob([data]));
  });
}
