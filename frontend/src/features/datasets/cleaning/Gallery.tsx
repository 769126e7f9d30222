import { Fieldset, SimpleGrid, Skeleton, Text } from '@mantine/core';
import { IconCircleCheck, IconTrashOff } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Finding, FindingKind } from '@/api/contract/datasets';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { LoadMore } from '@/shared/ui/LoadMore';
import classes from './cleaning.module.css';
import { FindingCard } from './FindingCard';
import { useFindings } from './queries';
import { extended, runsOf, type Selection, toggled } from './selection';

interface GalleryProps {
  report: string;
  kind: FindingKind;
  /** Removed while the page was open. */
  gone: ReadonlySet<string>;
  selection: Selection;
  onSelect: (selection: Selection) => void;
}

const COLS = { base: 2, xs: 3, md: 5, xl: 8 };
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The findings of one kind, the worst first; duplicates of one picture stand side by side. */
export function Gallery({ report, kind, gone, selection, onSelect }: GalleryProps) {
  const { t } = useTranslation();
  const root = useRef<HTMLDivElement>(null);
  const findings = useFindings(report, kind);
  const rows = useMemo(() => findings.rows?.filter(({ path }) => !gone.has(path)), [findings.rows, gone]);
  if (findings.error) return <ErrorState error={findings.error} onRetry={findings.refetch} />;
  if (!rows) return <Loading />;
  if (rows.length === 0 && !findings.hasMore)
    return findings.rows?.length ? (
      <EmptyState compact icon={IconTrashOff} title={t('cleaning.gone')} />
    ) : (
      <EmptyState compact icon={IconCircleCheck} title={t('cleaning.noneOfKind')} />
    );
  const paths = rows.map(({ path }) => path);
  const stays = new Set(rows.flatMap((row, index) => (row.stays ? [index] : [])));
  const pick = (index: number, extend: boolean) =>
    onSelect(extend ? extended(selection, paths, index, stays) : toggled(selection, paths, index));
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const at = (event.target as HTMLElement).closest<HTMLElement>('[data-finding]')?.dataset.finding;
    if (step === undefined || at === undefined) return;
    event.preventDefault();
    root.current?.querySelector<HTMLElement>(`[data-finding="${Number(at) + step}"]`)?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the buttons inside
    <div ref={root} onKeyDown={onKeyDown}>
      <Text size="xs" c="dimmed" mb="xs">
        {t('cleaning.keys')}
      </Text>
      {runsOf(rows).map(({ group, start, items }) => (
        <Run key={`${group}:${start}`} group={group} count={items.length}>
          {items.map((finding: Finding, offset) => (
            <FindingCard
              key={`${finding.path}:${finding.stays}`}
              finding={finding}
              kind={kind}
              index={start + offset}
              selected={selection.paths.has(finding.path)}
              onPick={pick}
            />
          ))}
        </Run>
      ))}
      {findings.hasMore && (
        <LoadMore onLoad={findings.loadMore} loading={findings.isLoadingMore} error={findings.error} />
      )}
    </div>
  );
}

function Run({ group, count, children }: { group: number; count: number; children: React.ReactNode }) {
  const { t } = useTranslation();
  const cards = (
    <SimpleGrid cols={COLS} spacing="xs">
      {children}
    </SimpleGrid>
  );
  if (group < 0) return cards;
  return (
    <Fieldset legend={t('cleaning.group', { number: group + 1, count })} className={classes.group}>
      {cards}
    </Fieldset>
  );
}

const CARDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

function Loading() {
  return (
    <SimpleGrid cols={COLS} aria-busy>
      {CARDS.map((key) => (
        <Skeleton key={key} height={170} radius="md" />
      ))}
    </SimpleGrid>
  );
}
