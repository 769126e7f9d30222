/** Sends one blob in parts: those that the server has not, as often as the network makes it necessary. No React. */
import type { Upload } from '@/api/contract/datasets';
import { asApiError } from '@/api/errors';
import { pooled } from './pooled';
import { type DatasetUploads, putPart } from './uploadApi';

const PARTS_AT_ONCE = 2;
/** So often an upload is begun anew whose parts the server does not take. */
const TRIES = 3;
/** Another tab or program sent the same bytes meanwhile, or the address of a part became too old. */
const BEGIN_ANEW = new Set(['upload_not_open', 'media_link_expired', 'upload_incomplete']);

type Tell = (bytes: number, isSent: boolean) => void;

export interface Sending {
  api: DatasetUploads;
  signal: AbortSignal;
  /** A file of labels, in place of packs and changes. */
  kind?: 'labels';
  /** Does it again while the network or the server is away. */
  patiently: <T>(act: () => Promise<T>) => Promise<T>;
  /** Hears of bytes and files that are at the server, or, negative, are not after all; `isSent` of those sent just now. */
  tell: (bytes: number, files: number, isSent: boolean) => void;
}

export class BlobSender {
  private readonly sending: Sending;

  constructor(sending: Sending) {
    this.sending = sending;
  }

  /** Sends a pack of so many `files` or the changes; returns the upload's id. */
  async send(digest: string, blob: Blob, files?: number): Promise<string> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.sendOnce(digest, blob, files);
      } catch (error) {
        this.sending.signal.throwIfAborted();
        if (!BEGIN_ANEW.has(asApiError(error).code) || attempt >= TRIES) throw error;
      }
  }

  private async sendOnce(digest: string, blob: Blob, files?: number): Promise<string> {
    const { api, patiently } = this.sending;
    const kind = this.sending.kind ?? (files === undefined ? 'changes' : 'pack');
    const upload = await patiently(() => api.begin(kind, digest, blob.size));
    let counted = 0;
    const tell: Tell = (bytes, isSent) => {
      if (files === undefined) return;
      const before = Math.floor((files * counted) / blob.size);
      counted += bytes;
      this.sending.tell(bytes, Math.floor((files * counted) / blob.size) - before, isSent);
    };
    if (upload.state !== 'open') {
      tell(blob.size, false);
      return upload.id;
    }
    try {
      const parts = await this.sendParts(upload, blob, tell);
      await patiently(() => api.complete(upload.id, parts));
    } catch (error) {
      tell(-counted, false);
      throw error;
    }
    return upload.id;
  }

  private async sendParts(upload: Upload, blob: Blob, tell: Tell) {
    const size = upload.part_size_bytes;
    const kept = new Map(upload.parts_done.map((part) => [part.n, part]));
    const etags: { n: number; etag: string }[] = [];
    const missing: number[] = [];
    for (let n = 1; n <= Math.max(1, Math.ceil(blob.size / size)); n++) {
      const bytes = Math.min(size, blob.size - (n - 1) * size);
      const part = kept.get(n);
      if (part?.size_bytes !== bytes) missing.push(n);
      else {
        etags.push({ n, etag: part.etag });
        tell(bytes, false);
      }
    }
    await pooled(missing, PARTS_AT_ONCE, async (n) => {
      const data = await blob.slice((n - 1) * size, n * size).arrayBuffer();
      etags.push({ n, etag: await this.sendPart(upload.id, n, data, tell) });
    });
    return etags.sort((left, right) => left.n - right.n);
  }

  private sendPart(upload: string, n: number, data: ArrayBuffer, tell: Tell): Promise<string> {
    const { api, signal, patiently } = this.sending;
    return patiently(async () => {
      let told = 0;
      const upTo = (sent: number) => {
        tell(sent - told, true);
        told = sent;
      };
      try {
        const address = await api.partAddress(upload, n);
        const etag = await putPart(address, data, signal, upTo);
        upTo(data.byteLength);
        return etag;
      } catch (error) {
        upTo(0);
        throw error;
      }
    });
  }
}
