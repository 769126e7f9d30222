import { ActionIcon, Badge, Menu, Skeleton, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowBackUp,
  IconArrowsLeftRight,
  IconArrowsSplit2,
  IconCherry,
  IconCloudDataConnection,
  IconCopy,
  IconDatabaseImport,
  IconDotsVertical,
  IconGitCompare,
  IconGitMerge,
  IconHistory,
  IconPlayerPlay,
  IconPolygon,
  IconSparkles,
  IconTags,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Dataset, Version } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { whenReachable } from '@/shared/live/connection';
import { IN_PALETTE, useCommands } from '@/shared/ui/commands';
import { Dialog } from '@/shared/ui/Dialog';
import { useFormat } from '@/shared/ui/format';
import { AnchorLink, ButtonLink, MenuLink } from '@/shared/ui/links';
import { PageHeader } from '@/shared/ui/PageHeader';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { CachePanel } from '../cache/CachePanel';
import { DatasetTabs } from '../DatasetTabs';
import { authorName } from '../names';
import { AttributesDialog } from '../operations/AttributesDialog';
import { CopyFromDialog } from '../operations/CopyFromDialog';
import { type OnVersion, refAfter } from '../operations/edited';
import { MergeDialog } from '../operations/MergeDialog';
import type { AttributesOf } from '../operations/of';
import { PickDialog } from '../operations/PickDialog';
import { RevertDialog } from '../operations/RevertDialog';
import { useHeadBranch, useRefs, useStats, useVersion, type VersionAddress } from '../queries';
import { SplitDialog } from '../split/SplitDialog';
import { UploadInto } from '../upload/UploadInto';
import { layerWords } from '../versions/layerWords';
import { Origin } from '../versions/Origin';
import { askedBy } from '../views/asked';
import { FileNotices } from './FileNotices';
import { ImportOffer } from './ImportOffer';
import { PullPanel } from './PullPanel';
import { QuarantineNotice } from './QuarantineNotice';
import type { BrowseSearch } from './useBrowse';
import { VersionPicker } from './VersionPicker';

const ReplicasDialog = lazy(whenReachable(() => import('../replicas/ReplicasDialog')));

interface VersionHeaderProps {
  dataset: Dataset;
  address: VersionAddress;
  /** The version that `address` names now. */
  shown: VersionAddress | undefined;
  /** Whether all that this header shows is known: until then it keeps to one line. */
  hasArrived: boolean;
  search: BrowseSearch;
  onRef: (ref: string) => void;
}

export function VersionHeader({ dataset, address, shown, hasArrived, search, onRef }: VersionHeaderProps) {
  const { t } = useTranslation();
  const { name } = dataset;
  const version = useVersion(name, address.ref).data;
  const stats = useStats(name, shown?.ref).data;
  const pinned = version?.ref ?? address.ref;
  const { view } = search;
  const mayRun = useMay('researcher');
  useVersionCommands(name, pinned, view);
  return (
    <>
      <PageHeader
        title={name}
        above={
          <AnchorLink to="/datasets" size="sm">
            {t('datasets.title')}
          </AnchorLink>
        }
        badges={<VersionPicker name={name} value={address.ref} version={version} onChange={onRef} />}
        subtitle={<Facts version={hasArrived ? version : undefined} />}
      >
        {hasArrived && (
          <>
            <CachePanel name={name} address={address} />
            <PullPanel name={name} version={pinned} />
            <UploadInto address={address} folder={search.path ?? ''} />
            {mayRun && (
              <ButtonLink
                to="/runs/new"
                search={{ dataset: `${name}@${pinned}`, view }}
                leftSection={<IconPlayerPlay size={15} />}
              >
                {t('datasets.train')}
              </ButtonLink>
            )}
            <MoreMenu dataset={dataset} address={address} search={search} version={version} onRef={onRef} />
          </>
        )}
      </PageHeader>
      <DatasetTabs name={name} current="files" />
      {hasArrived && (
        <>
          <QuarantineNotice name={name} />
          {shown && <ImportOffer address={shown} named={address.ref} />}
          {stats && <FileNotices stats={stats} name={name} dataRef={search.ref} />}
        </>
      )}
    </>
  );
}

function useVersionCommands(name: string, pinned: string, view: string | undefined): void {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayRun = useMay('researcher');
  const dataset = `${name}@${pinned}`;
  const train = {
    id: 'train',
    label: t('datasets.train'),
    description: dataset,
    icon: IconPlayerPlay,
    run: () => void navigate({ to: '/runs/new', search: { dataset, view } }),
  };
  useCommands([
    ...(mayRun ? [train] : []),
    {
      id: 'label',
      label: t('datasets.label'),
      description: dataset,
      icon: IconPolygon,
      run: () => void navigate({ to: '/labeling', search: { create: dataset } }),
    },
    {
      id: 'cleaning',
      label: t('cleaning.title'),
      description: dataset,
      icon: IconSparkles,
      run: () => void navigate({ to: '/datasets/$name/cleaning', params: { name }, search: { ref: pinned } }),
    },
    {
      id: 'versions',
      label: t('datasets.versions'),
      description: name,
      icon: IconHistory,
      run: () => void navigate({ to: '/datasets/$name/versions', params: { name } }),
    },
  ]);
}

function Facts({ version }: { version: Version | undefined }) {
  const { t } = useTranslation();
  const format = useFormat();
  if (!version) return <Text inherit>{'\u00a0'}</Text>;
  const facts = [
    t('datasets.matching', { count: version.file_count }),
    version.link_count > 0 && t('datasets.links', { count: version.link_count }),
    format.bytes(version.size_bytes),
    authorName(version),
  ];
  return (
    <>
      {facts.filter(Boolean).join(' · ')} · <RelativeTime at={version.created_at} />
      {version.message && <> · {version.message}</>}
      {version.layers.map((layer) => (
        <Badge key={layer.name} size="sm" miw="max-content" color="gray" ml={6}>
          {t('datasets.layerRows', { name: layerWords(layer.name, t), rows: format.number(layer.rows) })}
        </Badge>
      ))}
      <Origin provenance={version.provenance} />
    </>
  );
}

interface MoreMenuProps {
  dataset: Dataset;
  address: VersionAddress;
  search: BrowseSearch;
  version: Version | undefined;
  onRef: (ref: string) => void;
}

function MoreMenu({ dataset: { name, latest }, address, search, version, onRef }: MoreMenuProps) {
  const { t } = useTranslation();
  const mayWrite = useMay('researcher');
  const [splitting, split] = useDisclosure();
  const [reverting, revert] = useDisclosure();
  const [picking, pick] = useDisclosure();
  const [copying, copy] = useDisclosure();
  const [setting, set] = useDisclosure();
  const [replicating, replicate] = useDisclosure();
  const [merging, setMerging] = useState<string>();
  const branch = useHeadBranch(address);
  const mayMerge = useRefs(name).branches.length > 1;
  const previous = version?.number && version.number > 1 ? `v${version.number - 1}` : undefined;
  const dataset = `${name}@${version?.ref ?? 'main'}`;
  const onVersion: OnVersion = (changed, ref) => onRef(refAfter(search.ref ?? ref, changed, ref) ?? ref);
  return (
    <>
      <Menu position="bottom-end" {...IN_PALETTE}>
        <Menu.Target>
          <ActionIcon color="gray" size={30} aria-label={t('common.more')}>
            <IconDotsVertical size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuLink
            to="/datasets/$name/diff"
            params={{ name }}
            search={{ from: previous, to: version?.ref }}
            leftSection={<IconGitCompare size={15} />}
          >
            {t('datasets.compare')}
          </MenuLink>
          <MenuLink
            to="/datasets/$name/cleaning"
            params={{ name }}
            search={{ ref: version?.ref }}
            leftSection={<IconSparkles size={15} />}
          >
            {t('cleaning.title')}
          </MenuLink>
          <MenuLink to="/labeling" search={{ create: dataset }} leftSection={<IconPolygon size={15} />}>
            {t('datasets.label')}
          </MenuLink>
          {mayWrite && latest && (
            <Menu.Item leftSection={<IconArrowsSplit2 size={15} />} onClick={split.open}>
              {t('datasets.splitMenu')}
            </Menu.Item>
          )}
          {version && (
            <MenuLink
              to="/datasets/$name/labels"
              params={{ name }}
              search={{ ref: address.ref }}
              leftSection={<IconArrowsLeftRight size={15} />}
            >
              {t('datasets.labelsMenu')}
            </MenuLink>
          )}
          {version && (
            <Menu.Item leftSection={<IconCloudDataConnection size={15} />} onClick={replicate.open}>
              {t('replicas.menu')}
            </Menu.Item>
          )}
          {mayWrite && version && (
            <>
              <MenuLink
                to="/datasets/$name/import"
                params={{ name }}
                search={{ ref: address.ref, path: search.path?.replace(/\/$/, '') || undefined }}
                leftSection={<IconDatabaseImport size={15} />}
              >
                {t('datasets.importMenu')}
              </MenuLink>
              {mayMerge && (
                <Menu.Item
                  leftSection={<IconGitMerge size={15} />}
                  onClick={() => setMerging(branch?.name ?? version.ref)}
                >
                  {t('versioning.merge')}…
                </Menu.Item>
              )}
              <Menu.Item leftSection={<IconArrowBackUp size={15} />} onClick={revert.open}>
                {t('versioning.revert')}
              </Menu.Item>
              <Menu.Item leftSection={<IconCherry size={15} />} onClick={pick.open}>
                {t('versioning.pick')}
              </Menu.Item>
              <Menu.Item leftSection={<IconCopy size={15} />} onClick={copy.open}>
                {t('versioning.copyFrom')}
              </Menu.Item>
              {branch && (
                <Menu.Item leftSection={<IconTags size={15} />} onClick={set.open}>
                  {t('versioning.attributes')}
                </Menu.Item>
              )}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {latest && (
        <SplitDialog name={name} latest={latest.ref} opened={splitting} onClose={split.close} onSplit={onRef} />
      )}
      {version && (
        <RevertDialog name={name} version={version.ref} opened={reverting} onClose={revert.close} onDone={onVersion} />
      )}
      {version && (
        <PickDialog
          name={name}
          source={version.ref}
          paths={search.path ? [search.path] : []}
          opened={picking}
          onClose={pick.close}
          onDone={onVersion}
        />
      )}
      <CopyFromDialog
        name={name}
        branch={branch?.name ?? 'main'}
        opened={copying}
        onClose={copy.close}
        onDone={onVersion}
      />
      {branch && (
        <AttributesDialog
          name={name}
          branch={branch}
          of={attributesOf(search)}
          opened={setting}
          onClose={set.close}
          onDone={onVersion}
        />
      )}
      {version && (
        <Dialog opened={replicating} onClose={replicate.close} size="md" title={t('replicas.title', { name: dataset })}>
          <Suspense fallback={<Skeleton height={180} />}>
            <ReplicasDialog name={name} address={{ ...address, ref: version.ref }} />
          </Suspense>
        </Dialog>
      )}
      <MergeDialog name={name} source={merging} onClose={() => setMerging(undefined)} />
    </>
  );
}

/** The files that the page shows: its folder, its filters and its view. */
function attributesOf(search: BrowseSearch): AttributesOf {
  const { where, prefix } = askedBy(search);
  return { paths: prefix ? [prefix] : [], where: where || undefined, view: search.view };
}
