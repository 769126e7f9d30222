import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '@/api/errors';
import type { Profile, Toleration } from '@/api/schema';
import { sayDetail } from '@/i18n';
import { useRights } from '@/shared/domain/project';
import { Dialog } from '@/shared/ui/Dialog';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFormat } from '@/shared/ui/format';
import { KeyValueList } from '@/shared/ui/KeyValueList';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import ProfileForm from './ProfileForm';
import { useProfile } from './queries';

const COLORS: Record<Profile['rdma']['state'], string> = { unused: 'gray', off: 'orange', on: 'teal' };

/** How pods fit the cluster, and whether RDMA is on there; administrators of the installation edit it. */
export default function ProfileSection({ cluster }: { cluster: string }) {
  const { t } = useTranslation();
  const { installation } = useRights();
  const { data: profile, error, refetch } = useProfile(cluster);
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  if (error && !profile) return <ErrorState error={error} compact onRetry={() => void refetch()} />;
  if (!profile) return <Skeleton height={80} aria-busy />;
  return (
    <Stack gap="sm">
      <ProfileFacts profile={profile} />
      {installation && (
        <div>
          <Button variant="default" onClick={() => setEditing(true)}>
            {t('clusterProfile.edit')}
          </Button>
        </div>
      )}
      <Dialog opened={isEditing} onClose={close} size="lg" title={t('clusterProfile.edit')}>
        <ProfileForm cluster={cluster} profile={profile} onDone={close} />
      </Dialog>
    </Stack>
  );
}

function ProfileFacts({ profile }: { profile: Profile }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { priority_class: priorityClass, tolerations, nccl, rdma, rdma_resource: resource } = profile;
  const repository = profile.image_repository;
  const settings = Object.entries(nccl ?? {});
  const isEmpty = !priorityClass && tolerations?.length === 0 && settings.length === 0 && !resource && !repository;
  if (isEmpty) return <Text size="sm">{t('clusterProfile.none')}</Text>;
  const limit = profile.memlock_bytes;
  return (
    <KeyValueList
      items={[
        [t('clusterProfile.priorityClass'), priorityClass || null],
        [
          t('clusterProfile.tolerations'),
          tolerations &&
            tolerations.length > 0 &&
            tolerations.map((one) => <TolerationLine key={JSON.stringify(one)} toleration={one} />),
        ],
        [
          t('clusterProfile.settings'),
          settings.length > 0 &&
            settings.map(([name, value]) => (
              <div key={name} style={{ overflowWrap: 'anywhere' }}>{`${name}=${value}`}</div>
            )),
        ],
        [t('clusterProfile.resource'), resource && `${format.number(profile.rdma_count ?? 1)} × ${resource}`],
        [
          t('clusterProfile.memlockShown'),
          resource && (limit == null ? t('clusterProfile.unlimited') : format.bytes(limit)),
        ],
        [t('clusterProfile.rdma'), resource && <RdmaState rdma={rdma} />],
        [
          t('clusterProfile.images'),
          repository &&
            `${repository} (${t(profile.has_image_credentials ? 'clusterProfile.credentialsStored' : 'clusterProfile.credentialsNone')})`,
        ],
      ]}
    />
  );
}

function RdmaState({ rdma }: { rdma: Profile['rdma'] }) {
  const { t } = useTranslation();
  const code = rdma.detail_code;
  const sentence = code ? sentenceOf({ detail_code: code, detail_params: rdma.detail_params }) : undefined;
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Badge color={COLORS[rdma.state]} size="sm">
          {t(`clusterProfile.states.${rdma.state}`)}
        </Badge>
        {rdma.tested_at && (
          <Text size="xs" c="dimmed">
            {rdma.node && `${t('clusterProfile.tested', { node: rdma.node })} · `}
            <RelativeTime at={rdma.tested_at} />
          </Text>
        )}
      </Group>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {sayDetail(rdma.detail ?? '', sentence ?? undefined)}
      </Text>
    </Stack>
  );
}

function TolerationLine({ toleration }: { toleration: Toleration }) {
  const { t } = useTranslation();
  const { key: name, operator, value, effect } = toleration;
  const taint = name || t('clusterProfile.everyTaint');
  const said = operator === 'Exists' ? taint : `${taint}=${value ?? ''}`;
  return <div style={{ overflowWrap: 'anywhere' }}>{`${said}: ${effect || t('clusterProfile.everyEffect')}`}</div>;
}
