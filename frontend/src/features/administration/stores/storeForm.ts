import type { NewStoreRequest, PatchedStoreChangesRequest, Store } from '@/api/schema';

export interface StoreForm {
  name: string;
  endpoint: string;
  bucket: string;
  prefix: string;
  region: string;
  access_key_id: string;
  secret_access_key: string;
  egress_per_gib: string;
  write_per_gib: string;
  keep_per_gib_month: string;
  currency: string;
}

export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const FEE = /^(?:\d{1,8}(?:\.\d{1,6})?)?$/;
export const CURRENCY = /^[A-Z]{3}$/;
const FEES = ['egress_per_gib', 'write_per_gib', 'keep_per_gib_month'] as const;

const shownFee = (fee: string | null | undefined) => (fee == null ? '' : String(Number(fee)));

/** The values that the form begins with: those of a store, or none. */
export const storeForm = (store?: Store): StoreForm => ({
  name: store?.name ?? '',
  endpoint: store?.endpoint ?? 'https://',
  bucket: store?.bucket ?? '',
  prefix: store?.prefix ?? '',
  region: store?.region ?? '',
  access_key_id: '',
  secret_access_key: '',
  egress_per_gib: shownFee(store?.egress_per_gib),
  write_per_gib: shownFee(store?.write_per_gib),
  keep_per_gib_month: shownFee(store?.keep_per_gib_month),
  currency: store?.currency ?? '',
});

export const hasFee = (form: StoreForm) => FEES.some((name) => form[name].trim() !== '');

const fees = (form: StoreForm) => ({
  ...Object.fromEntries(FEES.map((name) => [name, form[name].trim() || null])),
  ...(form.currency && { currency: form.currency }),
});

export const newStore = (form: StoreForm): NewStoreRequest => ({
  name: form.name.trim(),
  endpoint: form.endpoint.trim(),
  bucket: form.bucket.trim(),
  prefix: form.prefix.trim(),
  region: form.region.trim(),
  access_key_id: form.access_key_id.trim(),
  secret_access_key: form.secret_access_key.trim(),
  ...fees(form),
});

/** The changes of a store; keys that nobody typed stay. */
export const storeChanges = (form: StoreForm): PatchedStoreChangesRequest => ({
  ...(form.access_key_id.trim() && {
    access_key_id: form.access_key_id.trim(),
    secret_access_key: form.secret_access_key.trim(),
  }),
  ...fees(form),
});
