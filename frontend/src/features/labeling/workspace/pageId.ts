import { csrfToken } from '@/api/client';

const LAST = 'atom-labeling-page';

/**
 * The identity of this page for the server: it holds leases under this id. Each opening makes a new one, so that a
 * beacon of the page before, which may arrive late, takes nothing from this one.
 */
export interface PageId {
  id: string;
  /** The page before it in the same tab, whose work it takes up; empty in a new or copied tab. */
  from: string;
  /** It goes away. */
  remember: () => void;
  /** It has come back from the browser's cache of pages that were left. */
  returned: () => void;
}

export function newPageId(storage: Storage = sessionStorage): PageId {
  const id = crypto.randomUUID();
  const from = storage.getItem(LAST) ?? '';
  // Only while no page of the tab is open: a copied tab must not take the work of the one that it was copied from.
  storage.removeItem(LAST);
  return { id, from, remember: () => storage.setItem(LAST, id), returned: () => storage.removeItem(LAST) };
}

/** Sends a last request although the page is gone: a form, because a beacon carries no header for the token. */
export function sendLeave(taskId: string, page: string): void {
  const form = new FormData();
  form.set('page', page);
  form.set('csrfmiddlewaretoken', csrfToken());
  navigator.sendBeacon?.(`/api/v1/labelx/tasks/${taskId}/leave/`, form);
}

const lockOf = (page: string) => `atom-labeling/${page}`;

/** Tells the other pages of this browser that this one is open, until the function that it returns is called. */
export function holdOpen(page: string): () => void {
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  void navigator.locks?.request(lockOf(page), () => closed);
  return close;
}

/** Whether a page is open in this browser; where browsers cannot say it, none is. */
export async function isOpen(page: string): Promise<boolean> {
  const locks = await navigator.locks?.query();
  return locks?.held?.some(({ name }) => name === lockOf(page)) ?? false;
}
