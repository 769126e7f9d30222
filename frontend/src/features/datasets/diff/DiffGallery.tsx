import { Card, Center, Pagination, SimpleGrid, Skeleton } from '@mantine/core';
import { IconArrowRight, IconEqual } from '@tabler/icons-react';
import { type KeyboardEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { DiffRow } from '@/api/contract/datasets';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { DrawnSwitch } from '../drawn/DrawnSwitch';
import { useDrawnKey } from '../drawn/useDrawn';
import { DiffCard } from './DiffCard';
import { type DiffFilter, DiffFilters } from './DiffFilters';
import { DiffViewer } from './DiffViewer';
import { type DiffAsked, PAGE, useDiff } from './queries';

export interface DiffPlace extends DiffFilter {
  /** Counted from 1; the first page is left out of the address. */
  page?: number | undefined;
  /** The change that is looked at, by its number from 0. */
  item?: number | undefined;
}

interface DiffGalleryProps {
  name: string;
  from: string | undefined;
  to: string | undefined;
  place: DiffPlace;
  change: (patch: DiffPlace) => void;
}

const whole = (value: number | undefined, least: number): number => Math.max(least, Math.floor(value ?? least));

/** Every change of a pair of versions, a page at a time; one of them large. */
export function DiffGallery({ name, from, to, place, change }: DiffGalleryProps) {
  const { t } = useTranslation();
  const { page: pageAsked, item, kind, path, was, now } = place;
  const filter: DiffFilter = { kind, path, was, now };
  const asked: DiffAsked = { from, to, ...filter };
  const page = whole(pageAsked, 1);
  const diff = useDiff(name, asked, (page - 1) * PAGE, PAGE);
  const hasObjects = Boolean(
    diff.data?.results.some((row) => row.old?.annotations?.objects_total || row.new?.annotations?.objects_total),
  );
  useDrawnKey(hasObjects);
  const nothing = <EmptyState icon={IconEqual} title={t('datasets.same')} />;
  if (from !== undefined && from === to) return nothing;
  if (diff.error) return <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />;
  if (!diff.data) return <Loading />;
  const { summary, total, results } = diff.data;
  if (Object.values(summary).every((count) => count === 0)) return nothing;
  const filterBy = (patch: DiffFilter) => change({ ...patch, page: undefined, item: undefined });
  const toPage = (next: number) => change({ page: next === 1 ? undefined : next, item: undefined });
  return (
    <>
      {hasObjects && <DrawnSwitch />}
      <DiffFilters listing={diff.data} filter={filter} change={filterBy} />
      {results.length === 0 && <EmptyState compact icon={IconArrowRight} title={t('common.noMatches')} />}
      <Cards rows={results} first={(page - 1) * PAGE} onOpen={(number) => change({ item: number })} />
      {total > PAGE && <Pages page={page} count={Math.ceil(total / PAGE)} onPage={toPage} />}
      {item !== undefined && (
        <DiffViewer
          name={name}
          asked={asked}
          number={whole(item, 0)}
          onNumber={(number) => change({ item: number })}
          onClose={() => toPage(Math.floor(whole(item, 0) / PAGE) + 1)}
        />
      )}
    </>
  );
}

interface CardsProps {
  rows: DiffRow[];
  /** The number of the first one. */
  first: number;
  onOpen: (number: number) => void;
}

const MOVES: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

function Cards({ rows, first, onOpen }: CardsProps) {
  const { t } = useTranslation();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = MOVES[event.key];
    if (by === undefined) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLButtonElement>('[data-diff-open]') ?? [])];
    const next = buttons[buttons.indexOf(document.activeElement as HTMLButtonElement) + by];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <SimpleGrid
      ref={list}
      cols={{ base: 1, xs: 2, md: 3, xl: 5 }}
      spacing="sm"
      role="list"
      aria-label={t('datasets.diffGallery')}
      onKeyDown={onKeyDown}
    >
      {rows.map((row, index) => (
        <DiffCard key={`${row.kind}:${row.path}`} row={row} onOpen={() => onOpen(first + index)} />
      ))}
    </SimpleGrid>
  );
}

function Pages({ page, count, onPage }: { page: number; count: number; onPage: (page: number) => void }) {
  const { t } = useTranslation();
  const controls = {
    first: t('diff.first'),
    last: t('diff.last'),
    previous: t('diff.previousPage'),
    next: t('diff.nextPage'),
  };
  return (
    <Center py="md" component="nav" aria-label={t('diff.pages')}>
      <Pagination
        value={Math.min(page, count)}
        total={count}
        onChange={onPage}
        siblings={1}
        withEdges={false}
        getControlProps={(control) => ({ 'aria-label': controls[control] })}
        getItemProps={(number) => ({ 'aria-label': t('diff.pageNo', { number }) })}
      />
    </Center>
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
