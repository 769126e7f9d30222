import { type RawSearch, text } from '@/shared/search';

export const tokensSearch = (raw: RawSearch) => ({ create: text(raw.create) });
export const s3KeysSearch = (raw: RawSearch) => ({ create: text(raw.create) });
export const secretsSearch = (raw: RawSearch) => ({ create: text(raw.create), replace: text(raw.replace) });
export const auditLogSearch = (raw: RawSearch) => ({
  actor: text(raw.actor),
  verb: text(raw.verb),
  in: text(raw.in),
});
