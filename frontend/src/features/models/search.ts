import { oneOf, type RawSearch, text } from '@/shared/search';

export const modelsSearch = (raw: RawSearch) => ({ q: text(raw.q), sort: text(raw.sort) });
export const modelSearch = (raw: RawSearch) => ({ tab: text(raw.tab), sort: text(raw.sort) });
export const modelVersionSearch = (raw: RawSearch) => ({
  tab: oneOf('summary', 'evaluations', 'lineage', 'files')(raw.tab),
  evaluation: text(raw.evaluation),
});
