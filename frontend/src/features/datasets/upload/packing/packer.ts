/** A worker that packs, as calls. */
import type { Put } from './changes';
import { FileUnreadable, type Member, type PackSummary } from './pack';

export interface ChangesBlob {
  blob: Blob;
  digest: string;
}

export type Ask =
  | { what: 'pack'; members: Member[] }
  | { what: 'file'; member: Member }
  | { what: 'changes'; puts: Put[]; deletes: string[] };

export interface Question {
  id: number;
  ask: Ask;
}

export type Answer =
  | { id: number; bytes: number }
  | { id: number; done: unknown }
  | { id: number; failed: string; unreadable: string | undefined };

interface Waiting {
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
  onBytes: ((bytes: number) => void) | undefined;
}

export class Packer {
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  /** Raises FileUnreadable. */
  pack(members: Member[], onBytes?: (bytes: number) => void): Promise<PackSummary> {
    return this.ask({ what: 'pack', members }, onBytes);
  }

  /** BLAKE3 of a file. Raises FileUnreadable. */
  digest(member: Member): Promise<string> {
    return this.ask({ what: 'file', member });
  }

  changes(puts: Put[], deletes: string[]): Promise<ChangesBlob> {
    return this.ask({ what: 'changes', puts, deletes });
  }

  close(): void {
    this.fail(new DOMException('The packer was closed.', 'AbortError'));
  }

  private ask<Result>(ask: Ask, onBytes?: (bytes: number) => void): Promise<Result> {
    const id = ++this.last;
    return new Promise<Result>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, onBytes });
      this.started().postMessage({ id, ask } satisfies Question);
    });
  }

  /** The worker; one whose script did not come, or that broke down, hears nothing, so the next question gets another. */
  private started(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(new URL('./packer.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.take(data);
    worker.onerror = (event) => this.fail(new Error(event.message || 'The packer could not be started.'));
    this.worker = worker;
    return worker;
  }

  private take(answer: Answer): void {
    const found = this.waiting.get(answer.id);
    if (!found) return;
    if ('bytes' in answer) {
      found.onBytes?.(answer.bytes);
      return;
    }
    this.waiting.delete(answer.id);
    if ('done' in answer) found.resolve(answer.done as never);
    else
      found.reject(answer.unreadable === undefined ? new Error(answer.failed) : new FileUnreadable(answer.unreadable));
  }

  private fail(error: unknown): void {
    this.worker?.terminate();
    this.worker = null;
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}
