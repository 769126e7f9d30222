import { afterEach, beforeEach, vi } from 'vitest';
import type { LeasedSlot, Submission, SubmitResult } from '@/api/contract/labeling';
import { type KeyValue, memoryStore } from './kv';
import { Workbench } from './workbench';
import type { WorkbenchApi } from './workbenchApi';
import type { WorkbenchOptions } from './workbenchOptions';

export const slot = (n: number, extra: Partial<LeasedSlot> = {}): LeasedSlot => ({
  id: `s${n}`,
  item_id: `i${n}`,
  state: 'leased',
  lease_no: 1,
  expires_at: '',
  path: `${n}.png`,
  digest: '',
  width: null,
  height: null,
  media_url: '',
  tiled: false,
  thumb_url: '',
  document: null,
  document_source: null,
  pre_label_left_out: false,
  issues: [],
  draft: null,
  draft_seq: null,
  label_id: null,
  returned_code: null,
  returned_comment: null,
  ...extra,
});

/** A task with `count` images: what a server with this API would do. */
export class FakeTask implements WorkbenchApi {
  given = 0;
  received: Submission[] = [];
  drafts: [string, number, number | null][] = [];
  offline = false;
  /** The error that answers every request. */
  refusal: Error | null = null;
  /** Takes submissions, but its answers never arrive. */
  silent = false;
  lost = new Set<string>();
  returnedWork: LeasedSlot[] = [];
  leasedWork: LeasedSlot[] = [];
  /** How often the page said that it goes away. */
  left = 0;
  /** The arguments of each lease: how many, and whether ahead. */
  leases: [number, boolean][] = [];
  readonly count: number;
  constructor(count: number) {
    this.count = count;
  }
  private answer(): void {
    if (this.refusal) throw this.refusal;
    if (this.offline) throw new TypeError('offline');
  }
  /** Held by another open page of the same person. */
  otherPage: LeasedSlot[] = [];
  takeUp = async (everything: boolean) => {
    if (this.refusal) throw this.refusal;
    const leased = everything ? [...this.leasedWork, ...this.otherPage] : this.leasedWork;
    return { leased, returned: this.returnedWork };
  };
  show = async (slots: readonly LeasedSlot[]) => slots.map(({ id }) => id).filter((id) => this.lost.has(id));
  lease = async (n: number, prefetch: boolean) => {
    this.leases.push([n, prefetch]);
    const from = this.given;
    this.given = Math.min(this.count, from + n);
    return Array.from({ length: this.given - from }, (_, k) => slot(from + k));
  };
  submit = async (submissions: Submission[]): Promise<SubmitResult[]> => {
    this.answer();
    this.received.push(...submissions);
    if (this.silent) return new Promise(() => {});
    return submissions.map((one) =>
      this.lost.has(one.slot) ? { slot: one.slot, ok: false, code: 'stale_lease' } : { slot: one.slot, ok: true },
    );
  };
  asked: string[] = [];
  elsewhere = new Set<string>();
  heartbeat = async (one: LeasedSlot) => {
    if (this.offline) throw new TypeError('offline');
    this.asked.push(one.id);
    if (this.elsewhere.has(one.id)) return 'elsewhere' as const;
    return this.lost.has(one.id) ? ('lost' as const) : ('held' as const);
  };
  leave = () => void this.left++;
  returned = () => {};
  skipped: string[] = [];
  skip = async (one: LeasedSlot) => void this.skipped.push(one.id);
  unskip = async (one: LeasedSlot) => {
    this.answer();
    return { ...one, lease_no: one.lease_no + 1 };
  };
  saveDraft = async (one: LeasedSlot, sequence: number, labelId: number | null) => {
    this.answer();
    this.drafts.push([one.id, sequence, labelId]);
  };
}

/** The store that a browser keeps between two visits. */
export const kept: { store: KeyValue; keys: number } = { store: memoryStore(), keys: 0 };

export const open = (task: FakeTask, extra: Partial<WorkbenchOptions> = {}) =>
  new Workbench({
    api: task,
    store: kept.store,
    person: 'ann',
    task: 't',
    batchSize: 2,
    newKey: () => `k${kept.keys++}`,
    onChange: () => {},
    ...extra,
  });

export const ids = (bench: Workbench) => bench.current?.slots.map((one) => one.id);

/** Each test has a browser of its own, and its own time. */
export function withFreshBrowser(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    kept.store = memoryStore();
    kept.keys = 0;
  });
  afterEach(() => vi.useRealTimers());
}
