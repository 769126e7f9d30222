import { ActionIcon, Card, Chip, Group, SimpleGrid, Skeleton, Text, Tooltip } from '@mantine/core';
import { IconArrowRight, IconArrowsExchange, IconEqual, IconGitCompare } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { DiffKind } from '@/api/contract/datasets';
import { EmptyState } from '@/shared/EmptyState';
import { ErrorState } from '@/shared/ErrorState';
import { useFormat } from '@/shared/format';
import { LoadMore } from '@/shared/LoadMore';
import { AnchorLink } from '@/shared/links';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { VersionPicker } from '../browse/VersionPicker';
import { useDiff, useVersions } from '../queries';
import { DiffCard } from './DiffCard';
import { KINDS } from './kinds';

const route = getRouteApi('/datasets/$name/diff');

/** The pair in the URL; without one, the last two versions. */
function usePair(name: string) {
  const { from, to } = route.useSearch();
  const versions = useVersions(name, 'main').rows;
  return {
    from: from ?? versions?.[1]?.ref,
    to: to ?? versions?.[0]?.ref,
    onlyOne: versions !== undefined && versions.length < 2 && !(from && to),
  };
}

export function DiffPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { from, to, onlyOne } = usePair(name);
  const navigate = route.useNavigate();
  const set = (patch: { from?: string; to?: string }) =>
    void navigate({ search: (old) => ({ ...old, from, to, ...patch }) });
  return (
    <Page>
      <PageHeader
        title={t('datasets.diffTitle')}
        documentTitle={t('datasets.diffOf', { name, from: from ?? '', to: to ?? '' })}
        above={
          <AnchorLink to="/datasets/$name" params={{ name }} size="sm">
            {name}
          </AnchorLink>
        }
      >
        <Group gap="xs" align="flex-end">
          <VersionPicker name={name} value={from} label={t('datasets.from')} onChange={(ref) => set({ from: ref })} />
          <Tooltip label={t('datasets.swap')}>
            <ActionIcon
              size={30}
              variant="default"
              aria-label={t('datasets.swap')}
              onClick={() => set({ from: to, to: from })}
            >
              <IconArrowsExchange size={16} />
            </ActionIcon>
          </Tooltip>
          <VersionPicker name={name} value={to} label={t('datasets.to')} onChange={(ref) => set({ to: ref })} />
        </Group>
      </PageHeader>
      {onlyOne ? (
        <EmptyState icon={IconGitCompare} title={t('datasets.oneVersion')} hint={t('datasets.oneVersionHint')} />
      ) : (
        <Gallery name={name} from={from} to={to} />
      )}
    </Page>
  );
}

function Gallery({ name, from, to }: { name: string; from: string | undefined; to: string | undefined }) {
  const { t } = useTranslation();
  const { kind } = route.useSearch();
  const diff = useDiff(name, from, to, kind);
  if (from !== undefined && from === to)
    return <EmptyState icon={IconEqual} title={t('datasets.same')} hint={t('datasets.sameHint')} />;
  if (diff.error) return <ErrorState error={diff.error} onRetry={diff.refetch} />;
  if (!diff.rows) return <Loading />;
  const total = Object.values(diff.summary ?? {}).reduce((sum, count) => sum + count, 0);
  if (total === 0) return <EmptyState icon={IconEqual} title={t('datasets.same')} hint={t('datasets.sameHint')} />;
  return (
    <>
      <KindFilter summary={diff.summary} total={total} />
      {diff.rows.length === 0 && <EmptyState compact icon={IconArrowRight} title={t('common.noMatches')} />}
      <SimpleGrid
        cols={{ base: 1, xs: 2, md: 3, xl: 5 }}
        spacing="sm"
        role="list"
        aria-label={t('datasets.diffGallery')}
      >
        {diff.rows.map((row) => (
          <DiffCard key={`${row.kind}:${row.path}`} row={row} />
        ))}
      </SimpleGrid>
      {diff.hasMore && <LoadMore onLoad={diff.loadMore} loading={diff.isLoadingMore} />}
    </>
  );
}

function KindFilter({ summary, total }: { summary: Partial<Record<DiffKind, number>> | undefined; total: number }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { kind } = route.useSearch();
  const navigate = route.useNavigate();
  const choose = (next: string) =>
    void navigate({ search: (old) => ({ ...old, kind: next === 'all' ? undefined : (next as DiffKind) }) });
  return (
    <Chip.Group multiple={false} value={kind ?? 'all'} onChange={choose}>
      <Group gap="xs" mb="md">
        <Chip size="xs" value="all">
          {t('datasets.allKinds')} {format.number(total)}
        </Chip>
        {KINDS.map(({ kind: one, color, sign }) => {
          const count = summary?.[one] ?? 0;
          return (
            <Chip key={one} size="xs" value={one} disabled={count === 0}>
              <Text span inherit fw={700} c={`var(--mantine-color-${color}-light-color)`} aria-hidden>
                {sign}
              </Text>{' '}
              {t(`datasets.${one}`)} {format.number(count)}
            </Chip>
          );
        })}
      </Group>
    </Chip.Group>
  );
}

const CARDS = ['a', 'b', 'c', 'd', 'e'];

function Loading() {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 5 }} aria-busy>
      {CARDS.map((key) => (
        <Card key={key}>
          <Skeleton height={150} />
        </Card>
      ))}
    </SimpleGrid>
  );
}
