import { ActionIcon, Anchor, Badge, Drawer, Group, Skeleton, Stack, Text, Tooltip } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconExternalLink, IconMaximize } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entry } from '@/api/contract/datasets';
import { useProject } from '@/shared/domain/project';
import { Thumb } from '@/shared/grid/Thumb';
import { CopyIcon, CopyId } from '@/shared/ui/CopyId';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { ButtonLink } from '@/shared/ui/links';
import { Bytes } from '@/shared/ui/values';
import { visible } from '@/shared/ui/visible';
import { DamageNotice } from '../DamageNotice';
import { markOf } from '../damage';
import { EntryOverlay } from '../drawn/EntryOverlay';
import { LinkTarget } from '../item/LinkTarget';
import { usePicture } from '../item/queries';
import { baseName } from '../names';
import { useEntry, useMediaProblem, type VersionAddress } from '../queries';
import classes from './browse.module.css';
import type { BrowseSearch } from './useBrowse';

interface EntryDrawerProps {
  address: VersionAddress;
  path: string | undefined;
  onClose: () => void;
  /** Goes to a neighbour in the list; absent while its place in the list is not known. */
  onStep?: (by: number) => void;
  /** The search with which the file's own page is opened. */
  page: BrowseSearch;
}

export function EntryDrawer({ address, path, onClose, onStep, page }: EntryDrawerProps) {
  const { t } = useTranslation();
  const entry = useEntry(address, path);
  return (
    <Drawer
      opened={path !== undefined}
      onClose={onClose}
      title={path ? visible(baseName(path)) : ''}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      onKeyDown={(event) => {
        // The page's own shortcuts rest while a dialog is open.
        const by = { ArrowLeft: -1, '[': -1, ArrowRight: 1, ']': 1 }[event.key];
        if (by) onStep?.(by);
      }}
    >
      <Stack>
        <Group gap="xs">
          {onStep && <Steps onStep={onStep} />}
          <ButtonLink
            size="xs"
            variant="default"
            to="/datasets/$name/item"
            params={{ name: address.dataset }}
            search={page}
            leftSection={<IconMaximize size={14} />}
          >
            {t('item.open')}
          </ButtonLink>
        </Group>
        {entry.error && <ErrorState error={entry.error} onRetry={() => void entry.refetch()} />}
        {entry.isLoading && <Skeleton height={320} />}
        {entry.data && <EntryDetails address={address} entry={entry.data} />}
      </Stack>
    </Drawer>
  );
}

function Steps({ onStep }: { onStep: (by: number) => void }) {
  const { t } = useTranslation();
  return (
    <Group gap={4}>
      <Tooltip label={t('datasets.previous')}>
        <ActionIcon variant="default" aria-label={t('datasets.previous')} onClick={() => onStep(-1)}>
          <IconChevronLeft size={16} />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={t('datasets.next')}>
        <ActionIcon variant="default" aria-label={t('datasets.next')} onClick={() => onStep(1)}>
          <IconChevronRight size={16} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

function EntryDetails({ address, entry }: { address: VersionAddress; entry: Entry }) {
  const { t } = useTranslation();
  const project = useProject();
  const uri = `atom://${project}/${address.dataset}@${address.ref}/${entry.path}`;
  const format = useFormat();
  const isImage = entry.media_type.startsWith('image/');
  const [broken, setBroken] = useState('');
  const [size, setSize] = useState<{ of: string; width: number; height: number } | null>(null);
  const isBroken = broken === entry.media_url;
  const problem = useMediaProblem(entry.media_url, isBroken);
  const answer = usePicture(address, entry.path, isImage).data;
  const damage = markOf(entry.attributes) ?? answer?.damage;
  const shown = size?.of === entry.media_url ? size : null;
  const pixels = answer?.picture ?? shown;
  if (entry.link) return <LinkDetails address={address} entry={entry} link={entry.link} />;
  return (
    <>
      <div className={classes.preview}>
        <Thumb
          src={isImage && !isBroken ? entry.media_url : entry.thumb_url}
          alt={entry.path}
          onBroken={() => setBroken(entry.media_url)}
          onSize={(width, height) => !isBroken && setSize({ of: entry.media_url, width, height })}
        />
        {isImage && !damage && <EntryOverlay annotations={entry.annotations} withNames />}
      </div>
      {damage && <DamageNotice reason={damage} />}
      {problem && <ErrorState error={problem} compact />}
      {isBroken && !damage && problem === null && (
        <Text size="sm" c="dimmed">
          {t('item.previewOnly')}
        </Text>
      )}
      <Anchor href={entry.media_url} target="_blank" rel="noreferrer" size="sm">
        <IconExternalLink size={14} aria-hidden style={{ verticalAlign: -2 }} /> {t('datasets.original')}
      </Anchor>
      <KeyValueList
        items={[
          [t('datasets.path'), <Copyable key="path" value={entry.path} />],
          [t('datasets.labelFilter'), entry.label ? <Badge key="label">{entry.label}</Badge> : t('datasets.noLabel')],
          [t('datasets.split'), entry.split],
          [t('datasets.type'), entry.media_type],
          [
            t('item.dimensions'),
            pixels && t('item.pixels', { width: format.number(pixels.width), height: format.number(pixels.height) }),
          ],
          [t('datasets.size'), <Bytes key="size" value={entry.size_bytes} />],
          [t('datasets.digest'), <CopyId key="digest" value={entry.digest} chars={16} />],
          [t('datasets.copyAddress'), <Copyable key="uri" value={uri} />],
        ]}
      />
      <Attributes attributes={entry.attributes} />
    </>
  );
}

interface LinkDetailsProps {
  address: VersionAddress;
  entry: Entry;
  link: NonNullable<Entry['link']>;
}

function LinkDetails({ address, entry, link }: LinkDetailsProps) {
  const { t } = useTranslation();
  return (
    <>
      {entry.thumb_url && (
        <div className={classes.preview}>
          <Thumb src={entry.thumb_url} alt={entry.path} />
        </div>
      )}
      <LinkTarget address={address} link={link} />
      <KeyValueList items={[[t('datasets.path'), <Copyable key="path" value={entry.path} />]]} />
      <Attributes attributes={entry.attributes} />
    </>
  );
}

function Copyable({ value }: { value: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {visible(value)}
      </Text>
      <CopyIcon value={value} />
    </Group>
  );
}

function Attributes({ attributes }: { attributes: Record<string, unknown> }) {
  const { t } = useTranslation();
  const entries = Object.entries(attributes);
  if (entries.length === 0) return null;
  return (
    <section aria-label={t('datasets.attributes')}>
      <Text fw={600} size="sm" mb={4}>
        {t('datasets.attributes')}
      </Text>
      <KeyValueList
        items={entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)])}
      />
    </section>
  );
}
