import { Select } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Attempt } from '@/api/contract/jobs';

export interface RankSelectProps {
  ranks: Attempt['ranks'];
  /** A number, or `all`. */
  chosen: string;
}

/** Chooses the log of one rank, or those of all as one; it shows nothing where there is one rank only. */
export function RankSelect({ ranks, chosen }: RankSelectProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  if (ranks.length < 2) return null;
  const choose = (value: string | null) => {
    const asked =
      value === 'all' ? { ranks: 'all' as const, rank: undefined } : { ranks: undefined, rank: Number(value) };
    void navigate({
      to: '.',
      search: (old: Record<string, unknown>) => ({ ...old, ...asked, rank: asked.rank || undefined, line: undefined }),
      replace: true,
    });
  };
  return (
    <Select
      size="xs"
      w={130}
      aria-label={t('runpage.cluster.rank')}
      allowDeselect={false}
      searchable
      data={[
        { value: 'all', label: t('runlog.allRanks') },
        ...ranks.map(({ number }) => ({ value: String(number), label: t('runlog.rank', { rank: number }) })),
      ]}
      value={chosen}
      onChange={choose}
    />
  );
}
