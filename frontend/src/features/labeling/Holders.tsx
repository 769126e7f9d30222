import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Waiting } from '@/api/contract/labeling';
import { useFormat } from '@/shared/ui/format';

type Holder = Waiting['holders'][number];

/** The people who hold images of a task, and until when. */
export function Holders({ holders, doing = 'work' }: { holders: readonly Holder[]; doing?: 'work' | 'audit' }) {
  return holders.map((holder) => (
    <HolderLine key={`${holder.name} ${holder.returned}`} holder={holder} doing={doing} />
  ));
}

function HolderLine({ holder, doing }: { holder: Holder; doing: 'work' | 'audit' }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { name, items: count, until, working, returned } = holder;
  const params = { name, count, until: until ? format.time(until) : '' };
  if (returned) return <Text size="sm">{t('labeling.holder.corrects', params)}</Text>;
  if (!working) return <Text size="sm">{t('labeling.holder.until', params)}</Text>;
  return <Text size="sm">{t(doing === 'work' ? 'labeling.holder.works' : 'labeling.holder.audits', params)}</Text>;
}
