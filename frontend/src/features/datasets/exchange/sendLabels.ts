/** Sends a file of labels: its digest first, then the parts that the server has not. No React. */
import { Packer } from '../upload/packing/packer';
import { patiently } from '../upload/patience';
import { BlobSender } from '../upload/sending';
import { DatasetUploads } from '../upload/uploadApi';

/** Returns the id of the upload. */
export async function sendLabels(
  place: { project: string; dataset: string },
  file: File,
  signal: AbortSignal,
): Promise<string> {
  const packer = new Packer();
  try {
    const digest = await packer.digest({ path: file.name, blob: file });
    const sender = new BlobSender({
      api: new DatasetUploads(place, signal),
      signal,
      kind: 'labels',
      patiently: (act) => patiently(act, signal, () => undefined),
      tell: () => undefined,
    });
    return await sender.send(digest, file);
  } finally {
    packer.close();
  }
}
