import { type RawSearch, text } from '@/shared/search';

export const tokensSearch = (raw: RawSearch) => ({ create: text(raw.create) });
export const s3KeysSearch = (raw: RawSearch) => ({ create: text(raw.create) });
export const webhooksSearch = (raw: RawSearch) => ({ create: text(raw.create), of: text(raw.of) });
export const auditLogSearch = (raw: RawSearch) => ({
  actor: text(raw.actor),
  verb: text(raw.verb),
  in: text(raw.in),
});
