import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconDownload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { FailedPage } from '@/shared/ui/FailedPage';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { visible } from '@/shared/ui/visible';
import { type BrowseSearch, useEntries, usePlace } from '../browse/useBrowse';
import { DamageNotice } from '../DamageNotice';
import { DatasetPartHeader } from '../DatasetPartHeader';
import { markOf } from '../damage';
import { DrawnAbout } from '../drawn/DrawnAbout';
import { DrawnObjects } from '../drawn/DrawnObjects';
import { useItemDrawn } from '../drawn/useItemDrawn';
import { baseName } from '../names';
import { useDataset, useEntry, useFixed, useMediaProblem, type VersionAddress } from '../queries';
import { Facts } from './Facts';
import { History } from './History';
import { ItemLabels } from './ItemLabels';
import classes from './item.module.css';
import { LinkTarget } from './LinkTarget';
import { useNeighbours, usePicture } from './queries';
import { isTable, TablePreview } from './TablePreview';
import { UsedIn } from './UsedIn';
import { ZoomView } from './ZoomView';

const route = getRouteApi('/datasets/$name/item');

/** One file of a version by itself: the picture, what is known of it, and what became of it. */
export function ItemPage() {
  const { t } = useTranslation();
  const { name } = route.useParams();
  const search = route.useSearch();
  const project = useProject();
  const dataset = useDataset(name);
  const ref = search.ref ?? dataset.data?.latest?.ref;
  const address = useMemo(() => (ref ? { project, dataset: name, ref } : null), [project, name, ref]);
  const shown = useFixed(address);
  const toList = (
    <AnchorLink to="/datasets/$name" params={{ name }} search={{ ...search, item: undefined, at: undefined }} size="sm">
      {search.path ? `${name} · ${visible(search.path)}` : name}
    </AnchorLink>
  );
  if (dataset.error)
    return <FailedPage title={name} above={toList} error={dataset.error} onRetry={() => void dataset.refetch()} />;
  if (!search.item || (dataset.data && !address))
    return (
      <Page>
        <DatasetPartHeader name={name} tab="files" title={t('item.title')} above={toList} />
        <EmptyState title={t('item.none')} />
      </Page>
    );
  if (!shown) return <Loading />;
  return <Item address={shown} search={search} path={search.item} above={toList} />;
}

interface ItemProps {
  address: VersionAddress;
  search: BrowseSearch;
  path: string;
  above: React.ReactNode;
}

function Item({ address, search, path, above }: ItemProps) {
  const { t } = useTranslation();
  const entry = useEntry(address, path);
  const steps = useSteps(address, search, path);
  if (entry.error)
    return (
      <FailedPage
        title={visible(baseName(path))}
        above={above}
        error={entry.error}
        onRetry={() => void entry.refetch()}
      />
    );
  return (
    <Page fill>
      <DatasetPartHeader
        name={address.dataset}
        tab="files"
        title={visible(baseName(path))}
        documentTitle={`${visible(baseName(path))} · ${address.dataset}`}
        above={above}
        subtitle={`${address.dataset}@${address.ref} · ${visible(path)}`}
      >
        {steps && (
          <>
            <Button
              variant="default"
              leftSection={<IconChevronLeft size={15} />}
              disabled={!steps.previous}
              onClick={steps.toPrevious}
            >
              {t('datasets.previous')}
            </Button>
            <Button
              variant="default"
              rightSection={<IconChevronRight size={15} />}
              disabled={!steps.next}
              onClick={steps.toNext}
            >
              {t('datasets.next')}
            </Button>
          </>
        )}
        {entry.data && !entry.data.link && (
          <Button
            component="a"
            variant="default"
            href={entry.data.media_url}
            download={baseName(path)}
            leftSection={<IconDownload size={15} />}
          >
            {t('item.download')}
          </Button>
        )}
      </DatasetPartHeader>
      {entry.data ? <Body key={path} address={address} entry={entry.data} /> : <Skeleton height="60vh" />}
    </Page>
  );
}

/** Goes to the files beside this one in the list that it was opened from. */
function useSteps(address: VersionAddress, search: BrowseSearch, path: string) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const entries = useEntries(address, search);
  const place = usePlace(entries, search.at === undefined ? path : undefined);
  const at = search.at ?? place ?? undefined;
  const found = useNeighbours(entries.source, entries.sourceKey, path, at);
  const go = useCallback(
    (to: string | null | undefined, by: number) => {
      if (to) void navigate({ search: (old) => ({ ...old, item: to, at: (at ?? 0) + by }), replace: true });
    },
    [navigate, at],
  );
  const toPrevious = () => go(found?.previous, -1);
  const toNext = () => go(found?.next, 1);
  useShortcuts([
    { keys: '[', label: t('datasets.previous'), run: toPrevious },
    { keys: ']', label: t('datasets.next'), run: toNext },
    { keys: 'ArrowLeft', label: t('datasets.previous'), run: toPrevious },
    { keys: 'ArrowRight', label: t('datasets.next'), run: toNext },
  ]);
  return at === undefined ? null : { ...found, toPrevious, toNext };
}

function Body({ address, entry }: { address: VersionAddress; entry: Entry }) {
  const { t } = useTranslation();
  const [broken, setBroken] = useState(false);
  const [size, setSize] = useState<[number, number] | null>(null);
  const problem = useMediaProblem(entry.media_url, broken);
  const isImage = entry.media_type.startsWith('image/');
  const answer = usePicture(address, entry.path, isImage);
  const damage = markOf(entry.attributes) ?? answer.data?.damage;
  const drawn = useItemDrawn(entry);
  return (
    <div className={classes.body}>
      {isImage && !broken ? (
        <div className={classes.shown}>
          {damage && <DamageNotice reason={damage} />}
          <ZoomView
            src={entry.media_url}
            alt={entry.path}
            onSize={(width, height) => setSize([width, height])}
            onBroken={() => setBroken(true)}
            over={drawn.overlay}
          >
            <DrawnAbout object={drawn.activeObject} />
          </ZoomView>
        </div>
      ) : entry.link ? (
        <div>
          <LinkTarget address={address} link={entry.link} />
        </div>
      ) : (
        <div>
          {damage ? (
            <DamageNotice reason={damage} />
          ) : problem ? (
            <ErrorState error={problem} compact />
          ) : isImage && entry.thumb_url ? (
            <Stack gap="xs">
              <div className={classes.small}>
                <Thumb src={entry.thumb_url} alt={entry.path} />
              </div>
              <Text c="dimmed" size="sm">
                {t('item.previewOnly')}
              </Text>
            </Stack>
          ) : isTable(entry) ? (
            <TablePreview address={address} path={entry.path} />
          ) : (
            <Text c="dimmed" size="sm">
              {t('item.noPicture')}
            </Text>
          )}
        </div>
      )}
      <Stack className={classes.side} gap="lg">
        <Facts address={address} entry={entry} shown={size} />
        {entry.annotations && <DrawnObjects annotations={entry.annotations} drawn={drawn} />}
        {!entry.link && <ItemLabels address={address} entry={entry} />}
        <History address={address} path={entry.path} />
        <UsedIn address={address} />
      </Stack>
    </div>
  );
}

const Loading = () => (
  <Page>
    <Skeleton height={28} width={260} mb="md" />
    <Group align="stretch">
      <Skeleton height={420} flex={1} />
      <Skeleton height={420} width={320} visibleFrom="sm" />
    </Group>
  </Page>
);
