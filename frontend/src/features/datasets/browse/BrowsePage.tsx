import { Skeleton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { FailedPage } from '@/shared/ui/FailedPage';
import { AnchorLink, ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { type OnVersion, refAfter } from '../operations/edited';
import { OperationsNow } from '../operations/OperationsNow';
import { useFixed, useHeadBranch, useStats, useVersion, type VersionAddress } from '../queries';
import classes from './browse.module.css';
import { EntryDrawer } from './EntryDrawer';
import { EntryGrid } from './EntryGrid';
import { EntryList } from './EntryList';
import { FilterBar } from './FilterBar';
import { FolderTree } from './FolderTree';
import { MoveObjectsNotice } from './MoveObjectsNotice';
import { NoVersion } from './NoVersion';
import { PickedBar } from './PickedBar';
import { QueryBar } from './QueryBar';
import { queryProblem } from './QueryField';
import { useArrival } from './useArrival';
import { NO_FILTERS, useBrowse, useEntries, usePlace } from './useBrowse';
import { usePicking } from './usePicking';
import { VersionHeader } from './VersionHeader';
import { VersionPicker } from './VersionPicker';

const DEFAULT_THUMB_PX = 150;

export function BrowsePage() {
  const { t } = useTranslation();
  const { name, search, address, dataset, change } = useBrowse();
  const version = useVersion(name, address?.ref);
  const shown = useFixed(address);
  const hasArrived = useArrival(name, address, shown);
  const toList = (
    <AnchorLink to="/datasets" size="sm">
      {t('datasets.title')}
    </AnchorLink>
  );
  const onRef = (ref: string) => change({ ref, path: undefined, item: undefined });
  if (dataset.error)
    return <FailedPage title={name} above={toList} error={dataset.error} onRetry={() => void dataset.refetch()} />;
  if (version.error && !version.data && address)
    return (
      <FailedPage
        title={name}
        above={toList}
        badges={<VersionPicker name={name} value={address.ref} onChange={onRef} />}
        error={version.error}
        onRetry={() => void version.refetch()}
      >
        {dataset.data?.latest && (
          <ButtonLink
            to="/datasets/$name"
            params={{ name }}
            search={{ ref: dataset.data.latest.ref }}
            variant="default"
          >
            {t('datasets.showLatest', { ref: dataset.data.latest.ref })}
          </ButtonLink>
        )}
      </FailedPage>
    );
  if (dataset.isPending)
    return (
      <Page>
        <Skeleton height={28} width={260} mb="md" />
        <Skeleton height={320} />
      </Page>
    );
  if (!address) return <NoVersion {...dataset.data} />;
  return (
    <Page fill>
      <VersionHeader
        dataset={dataset.data}
        address={address}
        shown={shown}
        hasArrived={hasArrived}
        search={search}
        onRef={(ref) => change({ ref, item: undefined })}
      />
      <OperationsNow name={name} />
      {shown && hasArrived ? (
        <Browser named={address} address={shown} search={search} change={change} />
      ) : (
        <Skeleton height={320} aria-busy />
      )}
    </Page>
  );
}

interface BrowserProps extends Pick<ReturnType<typeof useBrowse>, 'search' | 'change'> {
  /** As the URL names it: by a branch, perhaps, which edits go to. */
  named: VersionAddress;
  /** The version that it is now, which everything is read from. */
  address: VersionAddress;
}

function Browser({ named, address, search, change }: BrowserProps) {
  const { t } = useTranslation();
  const branch = useHeadBranch(named);
  const stats = useStats(address.dataset, address.ref).data;
  const entries = useEntries(address, search);
  // Where the file that was opened here stands in the list; one opened by its address is looked for.
  const opened = useRef<{ path: string; index: number } | null>(null);
  const known = opened.current?.path === search.item ? opened.current?.index : undefined;
  const place = usePlace(entries, known === undefined ? search.item : undefined);
  const index = known ?? place;
  const size = search.size ?? DEFAULT_THUMB_PX;
  const setSize = useDebouncedCallback((next: number) => change({ size: next }, true), 150);
  const open = useCallback(
    (entry: Entry, index: number) => {
      opened.current = { path: entry.path, index };
      change({ item: entry.path });
    },
    [change],
  );
  const clear = () => change(NO_FILTERS);
  const mayEdit = useMay('researcher');
  const picked = usePicking(entries);
  const onVersion: OnVersion = (changed, ref) => change({ ref: refAfter(search.ref, changed, ref), item: undefined });
  const step = async (by: number) => {
    if (index === null || search.item === undefined) return;
    const next = await entries.source.entryAt(index + by);
    if (!next) return;
    opened.current = { path: next.path, index: index + by };
    change({ item: next.path }, true);
  };
  useShortcuts([
    { keys: '[', label: t('datasets.previous'), run: () => void step(-1) },
    { keys: ']', label: t('datasets.next'), run: () => void step(1) },
  ]);
  return (
    <div className={classes.body}>
      <FolderTree address={address} path={search.path ?? ''} onPath={(path) => change({ path: path || undefined })} />
      <section className={classes.files} aria-label={t('datasets.files')}>
        <MoveObjectsNotice name={address.dataset} branch={branch} count={stats?.described ?? 0} onDone={onVersion} />
        <FilterBar
          address={address}
          search={search}
          change={change}
          total={entries.total}
          isExact={entries.isExact}
          countedBefore={entries.countedBefore}
          onClear={clear}
          thumbSize={size}
          onThumbSize={setSize}
        />
        <QueryBar address={address} search={search} change={change} error={entries.error} />
        {queryProblem(entries.error) ? null : search.layout === 'list' ? (
          <EntryList
            key={address.ref}
            address={address}
            branch={branch}
            search={search}
            isExact={entries.isExact}
            onClear={clear}
            onVersion={onVersion}
          />
        ) : (
          <>
            <PickedBar
              address={address}
              branch={branch}
              search={search}
              picked={picked}
              total={entries.total ?? 0}
              isExact={entries.isExact}
              onVersion={onVersion}
            />
            <EntryGrid
              entries={entries}
              search={search}
              thumbSize={size}
              onOpen={open}
              onClear={clear}
              picking={mayEdit ? picked.picking : undefined}
            />
          </>
        )}
      </section>
      <EntryDrawer
        address={address}
        path={search.item}
        onClose={() => change({ item: undefined })}
        onStep={index === null ? undefined : (by) => void step(by)}
        page={{ ...search, at: index ?? undefined }}
      />
    </div>
  );
}
