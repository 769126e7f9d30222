import { oneOf, type RawSearch, text } from '@/shared/search';

export const membersSearch = (raw: RawSearch) => ({
  tab: oneOf('members', 'invitations', 'service', 'projects')(raw.tab),
  q: text(raw.q),
  role: oneOf('viewer', 'labeler', 'researcher', 'admin')(raw.role),
});
export const unitsSearch = (raw: RawSearch) => ({ q: text(raw.q) });
export const peopleSearch = (raw: RawSearch) => ({ q: text(raw.q), state: oneOf('active', 'inactive')(raw.state) });
