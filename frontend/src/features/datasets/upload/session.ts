/** The upload of this tab: it goes on while its person looks at other pages. */
import { useSyncExternalStore } from 'react';
import type { Chosen, UploadFile } from './chosen';
import { Packer } from './packing/packer';
import type { Order } from './saved';
import { Transfer, type TransferState } from './transfer';

let current: Transfer | null = null;
/** Files that were dropped on another page, for the upload page to begin with. */
let handed: Chosen | null = null;
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

if (typeof window !== 'undefined')
  window.addEventListener('beforeunload', (event) => {
    if (current?.isRunning) event.preventDefault();
  });

export const useTransfer = (): Transfer | null => useSyncExternalStore(subscribe, () => current);

export const useTransferState = (transfer: Transfer): TransferState =>
  useSyncExternalStore(transfer.subscribe, transfer.snapshot);

export function startTransfer(order: Order, files: readonly UploadFile[]): Transfer {
  current = new Transfer(order, files, new Packer());
  tell();
  return current;
}

export function dropTransfer(): void {
  current = null;
  tell();
}

export function handOver(chosen: Chosen): void {
  handed = chosen;
  tell();
}

export const useHanded = (): Chosen | null => useSyncExternalStore(subscribe, () => handed);

export function takeHanded(): void {
  handed = null;
  tell();
}
