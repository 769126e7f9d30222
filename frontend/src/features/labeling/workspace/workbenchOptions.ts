import type { LeasedSlot } from '@/api/contract/labeling';
import type { KeyValue } from './kv';
import type { Gone } from './leases';
import type { WorkbenchApi } from './workbenchApi';

export interface WorkbenchOptions<D = number | null> {
  api: WorkbenchApi<D>;
  store: KeyValue;
  /** Whose work it is: what one has not sent must not leave under the name of the next at this machine. */
  person: string;
  task: string;
  /** The open page, and whether another one is open in this browser. */
  page?: string;
  isOpen?: (page: string) => Promise<boolean>;
  batchSize: number;
  /** How long a submitted batch can be taken back. */
  holdMs?: number;
  draftMs?: number;
  /** The pause between two writes to the browser's disk. */
  localMs?: number;
  newKey?: () => string;
  /** Called with the images that will be shown next. */
  preload?: (slots: LeasedSlot[]) => void;
  /** Work of this person's other windows is about to be taken; resolves when they have written theirs down. */
  onTaking?: () => Promise<void>;
  /** Work was taken up that another window of this person may show. */
  onTaken?: () => void;
  /** Images were leased, submitted or given back: the server counts others now. */
  onCounts?: () => void;
  /** Leases of images on the screen are gone; each is told once. */
  onLost?: (slots: LeasedSlot[], lease: Gone) => void;
  onChange: () => void;
}
