import { oneOf, type RawSearch, text } from '@/shared/domain/search';

export const membersSearch = (raw: RawSearch) => ({
  tab: oneOf('members', 'invitations', 'service', 'projects')(raw.tab),
  q: text(raw.q),
  role: oneOf('viewer', 'labeler', 'researcher', 'admin')(raw.role),
});
