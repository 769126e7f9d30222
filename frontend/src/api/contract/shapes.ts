export type { PreviewTable, UserShort as Person } from '../schema';

/** A keyset page: `next` is the cursor of the following page, null on the last one. */
export interface Listing<T> {
  results: T[];
  next: string | null;
}
