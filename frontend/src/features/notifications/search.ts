import { type RawSearch, text } from '@/shared/domain/search';

export const notificationsSearch = (raw: RawSearch) => ({
  show: raw.show === 'unread' ? ('unread' as const) : undefined,
  topic: text(raw.topic),
});
