import type { SubmitResult } from '@/api/contract/labeling';

/** The state of a table that its pages show, whatever its work is. */
export interface ShownTable {
  readonly held: { batch: { slots: readonly unknown[] } } | null;
  readonly refused: readonly SubmitResult[];
  readonly submitted: number;
  readonly outbox: { readonly offline: boolean; readonly waiting: number };
  readonly drafts: { readonly offline: boolean; readonly unsent: ReadonlySet<string> };
  readonly durable: boolean;
  readonly unsent: ReadonlySet<string>;
  retry: () => void;
  takeAll: () => Promise<void>;
  dismissRefused: () => void;
}
