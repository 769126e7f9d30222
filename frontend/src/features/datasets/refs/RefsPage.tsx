import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useArrived } from '@/shared/live/useArrived';
import { EmptyState } from '@/shared/ui/EmptyState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { Page } from '@/shared/ui/Page';
import { DatasetHeader } from '../DatasetHeader';
import { useHolds, useRetention } from '../keeping/queries';
import { OperationsNow } from '../operations/OperationsNow';
import { RefTables } from '../operations/RefTables';
import { useDataset, useRefs } from '../queries';
import { ToDatasets } from '../ToDatasets';
import { KeptNotes } from './KeptNotes';
import { useBranches, useTags } from './queries';

const route = getRouteApi('/datasets/$name/refs');

/** Every branch and tag of a dataset: where they are, how far from main, and what can be done with them. */
export function RefsPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const { q } = route.useSearch();
  const dataset = useDataset(name);
  const branches = useBranches(name, q);
  const tags = useTags(name, q);
  const refs = useRefs(name);
  const mayMerge = refs.branches.length > 1;
  const holds = useHolds(name);
  // The notes come with all their lines, and the tables after them: nothing moves.
  const retention = useRetention(name);
  const isNoted = useArrived(!retention.isPending && !holds.isPending);
  const isKnown = useArrived(refs.branches.length > 0 || !refs.isPending);
  if (dataset.error && !dataset.data)
    return (
      <FailedPage title={name} above={<ToDatasets />} error={dataset.error} onRetry={() => void dataset.refetch()} />
    );
  return (
    <Page>
      <DatasetHeader name={name} tab="branches" subtitle={t('versioning.refsSubtitle')}>
        <Search />
      </DatasetHeader>
      <OperationsNow name={name} />
      {isNoted && <KeptNotes name={name} />}
      {isNoted && isKnown && (
        <RefTables
          name={name}
          at="main"
          title={t('versioning.allRefs')}
          branches={branches}
          tags={tags}
          mayMerge={mayMerge}
          nothingFound={q ? <EmptyState compact icon={IconSearch} title={t('common.noMatches')} /> : undefined}
        />
      )}
    </Page>
  );
}

function Search() {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const setSoon = useDebouncedCallback(
    (text: string) => void navigate({ search: (old) => ({ ...old, q: text.trim() || undefined }), replace: true }),
    300,
  );
  return (
    <TextInput
      type="search"
      size="xs"
      w={200}
      leftSection={<IconSearch size={14} />}
      aria-label={t('versioning.findRef')}
      placeholder={t('versioning.findRef')}
      defaultValue={q ?? ''}
      maxLength={63}
      autoComplete="off"
      onChange={(event) => setSoon(event.currentTarget.value)}
    />
  );
}
