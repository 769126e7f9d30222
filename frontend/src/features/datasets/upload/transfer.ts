/**
 * One upload: compares with the branch's head, packs what is new, sends it, commits. Every step can be done again, and
 * finds what is done already, so pausing, failing and reloading all go on in the same way: from the beginning. No React.
 */
import type { CommitRequest, StoredFile, Version } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import type { FileProblem, UploadFile } from './chosen';
import { savedFile } from './chosen';
import { splitOfPath } from './classFolders';
import { type Meanwhile, meanwhileOf } from './meanwhile';
import type { Put } from './packing/changes';
import { FileUnreadable, type Member, type PackSummary, packBlob } from './packing/pack';
import type { Packer } from './packing/packer';
import { planPacks } from './packing/plan';
import { patiently } from './patience';
import { pooled } from './pooled';
import { Rate } from './rate';
import { bytesOf, forgetOrder, type Order, savedPack, saveOrder, savePack } from './saved';
import { BlobSender } from './sending';
import { asksForLabels, UploadApi } from './uploadApi';

/** `review`: all is sent but what could not be read, and somebody has to say what becomes of that. */
export type Stage = 'comparing' | 'sending' | 'review' | 'committing' | 'paused' | 'failed' | 'done';

export interface Counts {
  done: number;
  total: number;
}

export interface TransferState {
  stage: Stage;
  files: Counts;
  bytes: Counts;
  /** Files that the dataset has already. */
  unchanged: number;
  perSecond: number | null;
  /** The error that it waits out, while the network or the server is away. */
  waiting: unknown;
  problems: readonly FileProblem[];
  /** Why it failed. */
  error: unknown;
  /** How far the server is with the commit. */
  commit: CommitRequest | null;
  version: Version | null;
  /** Whether the upload made the version; else the branch had all of it. */
  isNew: boolean;
  /** Changes of others to the branch since the upload began; null without any. */
  meanwhile: Meanwhile | null;
}

const PACKS_AT_ONCE = 2;
const EMIT_MS = 150;
const REBASES = 5;
/** So often a pack is tried again of which files went away while it was sent. */
const TRIES = 3;

interface Compared {
  head: Version | null;
  fresh: UploadFile[];
  /** Paths of files that the head has already. */
  unchanged: string[];
  deletes: string[];
  /** Attributes of damaged files, which are sent again as they were. */
  attributes: Map<string, string>;
}

export class Transfer {
  readonly order: Order;
  readonly files: readonly UploadFile[];
  state: TransferState;
  private readonly packer: Packer;
  private readonly listeners = new Set<() => void>();
  private readonly rate = new Rate();
  private readonly digests = new Map<UploadFile, string>();
  private readonly unreadable = new Set<UploadFile>();
  private abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private leavesOut = false;
  private sentBytes = 0;

  constructor(order: Order, files: readonly UploadFile[], packer: Packer) {
    this.order = order;
    this.files = files;
    this.packer = packer;
    this.state = {
      stage: 'comparing',
      files: { done: 0, total: files.length },
      bytes: { done: 0, total: bytesOf(files) },
      unchanged: 0,
      perSecond: null,
      waiting: null,
      problems: [],
      error: null,
      commit: null,
      version: null,
      isNew: false,
      meanwhile: null,
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly snapshot = (): TransferState => this.state;

  get isRunning(): boolean {
    return ['comparing', 'sending', 'committing'].includes(this.state.stage);
  }

  /** Begins, or goes on. */
  async run(): Promise<void> {
    this.abort = new AbortController();
    this.rate.reset();
    this.set({ stage: 'comparing', error: null, waiting: null });
    try {
      await saveOrder(this.order, this.files.map(savedFile));
      await this.toTheEnd();
    } catch (error) {
      if (this.abort.signal.aborted) this.set({ stage: 'paused', waiting: null, perSecond: null });
      else this.set({ stage: 'failed', error, waiting: null, perSecond: null });
    }
  }

  pause(): void {
    this.abort.abort(new DOMException('Paused', 'AbortError'));
  }

  /** Reads what could not be read once more. */
  retry(): Promise<void> {
    this.unreadable.clear();
    this.set({ problems: [] });
    return this.run();
  }

  /** Commits without what cannot be read. */
  leaveOut(): Promise<void> {
    this.leavesOut = true;
    return this.run();
  }

  /** Gives up: what was sent is collected by the server in time. */
  async discard(): Promise<void> {
    this.pause();
    this.packer.close();
    await forgetOrder(this.order.id);
  }

  private async toTheEnd(): Promise<void> {
    const api = new UploadApi(this.order, this.abort.signal);
    await this.patiently(() => api.ensureDataset());
    for (let attempt = 0; ; attempt++) {
      const found = await this.compare(api);
      const puts = await this.send(api, found);
      if (this.unreadable.size > 0 && !this.leavesOut) {
        this.set({ stage: 'review', perSecond: null });
        return;
      }
      try {
        return await this.commit(api, found, puts);
      } catch (error) {
        // Somebody else's commit came first: what was sent is kept.
        if (asApiError(error).code !== 'head_moved' || attempt === REBASES) throw error;
      }
    }
  }

  /** Which files are new or others than those of the head, and which of the head go. */
  private async compare(api: UploadApi): Promise<Compared> {
    this.set({ stage: 'comparing' });
    const head = await this.patiently(() => api.head());
    if (this.order.began === undefined) {
      this.order.began = head?.commit ?? null;
      await saveOrder(this.order, this.files.map(savedFile));
    }
    if (!head) return { head, fresh: [...this.files], unchanged: [], deletes: [], attributes: new Map() };
    const { folder, replaces } = this.order;
    const paths = this.files.map(({ path }) => path);
    const stored = await this.patiently(() =>
      replaces ? api.storedBelow(head.commit, folder) : api.storedAt(head.commit, paths),
    );
    const known = new Map(stored.map((file) => [file.path, file]));
    const attributes = new Map<string, string>();
    const fresh: UploadFile[] = [];
    const unchanged: string[] = [];
    for (const file of this.files) {
      const there = known.get(file.path);
      known.delete(file.path);
      if (there && (await this.isSame(file, there))) {
        if (!there.is_damaged) {
          unchanged.push(file.path);
          continue;
        }
        if (there.attributes !== null) attributes.set(file.path, there.attributes);
      }
      fresh.push(file);
    }
    this.set({ unchanged: unchanged.length });
    return { head, fresh, unchanged, deletes: replaces ? [...known.keys()] : [], attributes };
  }

  private async isSame(file: UploadFile, there: StoredFile): Promise<boolean> {
    if (file.size !== there.size_bytes || this.unreadable.has(file)) return false;
    this.abort.signal.throwIfAborted();
    try {
      const digest = this.digests.get(file) ?? (await this.packer.digest({ path: file.path, blob: file.file }));
      this.digests.set(file, digest);
      return digest === there.digest;
    } catch (error) {
      if (!(error instanceof FileUnreadable)) throw error;
      this.give(file);
      return false;
    }
  }

  private give(file: UploadFile): void {
    this.unreadable.add(file);
    const problems = [...this.unreadable].map(({ path }) => ({ path, kind: 'unreadable' as const }));
    this.set({ problems });
  }

  /** Sends what is new; returns what is to be put. */
  private async send(api: UploadApi, { fresh, attributes }: Compared): Promise<Put[]> {
    const plans = planPacks(fresh);
    const total = plans.reduce((sum, { bytes }) => sum + bytes, 0);
    this.set({ stage: 'sending', files: { done: 0, total: fresh.length }, bytes: { done: 0, total } });
    const puts: Put[] = [];
    await pooled(plans, PACKS_AT_ONCE, async ({ files, bytes }) => {
      const { digest: pack, size, members } = await this.sendPack(api, files);
      for (const { path, ...member } of members)
        puts.push({
          path,
          ...member,
          pack,
          attributes: attributes.get(path) ?? null,
          split: splitOfPath(path, this.order.splits),
        });
      // Files that were left out of the pack count as done, too.
      this.count(bytes - size, files.length - members.length);
    });
    return puts.sort((left, right) => (left.path < right.path ? -1 : 1));
  }

  private async sendPack(api: UploadApi, files: readonly UploadFile[]): Promise<PackSummary> {
    for (let attempt = 1; ; attempt++) {
      const readable = files.filter((file) => !this.unreadable.has(file));
      if (readable.length === 0) return { digest: '', size: 0, members: [] };
      const members = readable.map(({ path, file }) => ({ path, blob: file }));
      try {
        const summary = await this.hashed(readable, members);
        await this.sender(api).send(summary.digest, packBlob(members), members.length);
        return summary;
      } catch (error) {
        if (error instanceof FileUnreadable) this.giveByPath(readable, error.path);
        else if (this.abort.signal.aborted || !(await this.isOthersFault(error, readable)) || attempt >= TRIES)
          throw error;
      }
    }
  }

  private giveByPath(files: readonly UploadFile[], path: string): void {
    const found = files.find((file) => file.path === path);
    if (found) this.give(found);
  }

  /** Whether it is worth another try: a file went away while its pack was sent. */
  private async isOthersFault(error: unknown, files: readonly UploadFile[]): Promise<boolean> {
    if (!(error instanceof DOMException)) return false;
    for (const file of files) {
      const readable = await file.file
        .slice(0, 1)
        .arrayBuffer()
        .then(
          () => true,
          () => false,
        );
      if (!readable) this.give(file);
    }
    return true;
  }

  private async hashed(files: readonly UploadFile[], members: Member[]): Promise<PackSummary> {
    const names = files.map(savedFile);
    const known = await savedPack(this.order.id, names);
    if (known) return known;
    this.abort.signal.throwIfAborted();
    const summary = await this.packer.pack(members);
    await savePack(this.order.id, names, summary);
    return summary;
  }

  private async commit(api: UploadApi, found: Compared, puts: Put[]): Promise<void> {
    this.set({ stage: 'committing', perSecond: null, commit: null });
    const { head } = found;
    // Unreadable files stay as they are in a folder that is replaced.
    const stays = new Set([...this.unreadable].map(({ path }) => path));
    const deletes = found.deletes.filter((path) => !stays.has(path));
    let version = head;
    let meanwhile: Meanwhile | null = null;
    if (puts.length > 0 || deletes.length > 0 || !head || asksForLabels(this.order.labels, head)) {
      meanwhile = await this.patiently(() => meanwhileOf(api, this.order.began ?? null, head, puts));
      const { blob, digest } = await this.packer.changes(puts, deletes);
      version = await this.patiently(async () => {
        const changes = await this.sender(api).send(digest, blob);
        const done = await api.commit(head, changes, (commit) => this.set({ commit }));
        return done.version;
      });
    }
    const split = await this.patiently(() => api.takeSplits(found.unchanged, (commit) => this.set({ commit })));
    version = split ?? version;
    await forgetOrder(this.order.id);
    this.packer.close();
    this.set({ stage: 'done', version, isNew: version?.commit !== head?.commit, commit: null, meanwhile });
  }

  private sender(api: UploadApi): BlobSender {
    return new BlobSender({
      api,
      signal: this.abort.signal,
      patiently: (act) => this.patiently(act),
      tell: (bytes, files, isSent) => this.count(bytes, files, isSent),
    });
  }

  private patiently<T>(act: () => Promise<T>): Promise<T> {
    return patiently(act, this.abort.signal, (waiting) => {
      if (this.state.waiting !== waiting) this.set({ waiting, ...(waiting ? { perSecond: null } : {}) });
    });
  }

  /** Counts bytes as done; those that are sent now, and not found at the server, tell how fast it goes. */
  private count(bytes: number, files: number, isSent = false): void {
    const { bytes: sent, files: counted } = this.state;
    const done = Math.max(0, Math.min(sent.total, sent.done + bytes));
    if (isSent) {
      this.sentBytes += bytes;
      this.rate.note(this.sentBytes);
    }
    this.state = {
      ...this.state,
      bytes: { ...sent, done },
      files: { ...counted, done: counted.done + files },
      perSecond: this.rate.perSecond,
    };
    this.timer ??= setTimeout(() => this.emit(), EMIT_MS);
  }

  private set(patch: Partial<TransferState>): void {
    this.state = { ...this.state, ...patch };
    this.emit();
  }

  private emit(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const listener of this.listeners) listener();
  }
}
