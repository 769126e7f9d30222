import { Badge, Button, Card, Group, Stack } from '@mantine/core';
import { IconMail, IconMailPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Invitation, MadeInvitation } from '@/api/contract/accounts';
import { useHiding } from '@/shared/domain/useHiding';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { useCommands } from '@/shared/ui/commands';
import { Dialog } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { EndButton } from '@/shared/ui/EndButton';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { notifyError } from '@/shared/ui/undo';
import { InvitationLink } from './InvitationLink';
import { InviteForm } from './InviteForm';
import type { Place } from './place';
import { renewInvitation, revokeInvitation, useInvitations, useRefreshInvitations } from './placeQueries';

const isPast = (at: string) => Date.parse(at) < Date.now();

/** People who were invited and have not come yet. */
export function InvitationsTab({ place }: { place: Place }) {
  const { t } = useTranslation();
  const invitations = useInvitations(place);
  const refresh = useRefreshInvitations(place);
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<MadeInvitation | null>(null);
  const { hidden, end } = useHiding();
  const begin = () => {
    setMade(null);
    setOpen(true);
  };
  useShortcuts([{ keys: 'N', label: t('people.invite'), run: begin }]);
  useCommands([{ id: 'invite', label: t('people.invite'), icon: IconMailPlus, run: begin }]);
  const renew = (one: Invitation) =>
    void renewInvitation(place, one.id)
      .then(async (next) => {
        setMade(next);
        setOpen(true);
        await refresh();
      })
      .catch(notifyError);
  const revoke = (one: Invitation) =>
    end(one.id, {
      message: t('people.inviteRevoking', { name: one.email || t('people.aLink') }),
      done: t('people.inviteRevoked', { name: one.email || t('people.aLink') }),
      send: () => revokeInvitation(place, one.id),
      refresh,
    });
  const button = (
    <Button leftSection={<IconMailPlus size={15} />} onClick={begin} data-first-action>
      {t('people.invite')}
    </Button>
  );
  return (
    <Stack>
      <Group justify="flex-end">{button}</Group>
      <Card p={0}>
        <DataTable
          {...invitations}
          rows={invitations.rows?.filter(({ id }) => !hidden.has(id))}
          label={t('people.invitations')}
          columns={useColumns(renew, revoke)}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconMail} title={t('people.noInvitations')} />}
        />
      </Card>
      <Dialog opened={open} onClose={() => setOpen(false)} title={t('people.invite')}>
        {made ? (
          <InvitationLink made={made} onDone={() => setOpen(false)} />
        ) : (
          <InviteForm
            place={place}
            onCancel={() => setOpen(false)}
            onMade={async (next) => {
              setMade(next);
              await refresh();
            }}
          />
        )}
      </Dialog>
    </Stack>
  );
}

function useColumns(renew: (one: Invitation) => void, revoke: (one: Invitation) => void): Column<Invitation>[] {
  const { t } = useTranslation();
  return [
    { key: 'email', header: t('people.invited'), cell: ({ email }) => email || t('people.aLink') },
    { key: 'role', header: t('people.role'), cell: ({ role }) => <Badge size="sm">{t(`people.roles.${role}`)}</Badge> },
    { key: 'by', header: t('people.invitedBy'), from: 'md', cell: ({ invited_by }) => invited_by ?? '–' },
    {
      key: 'mailed',
      header: t('people.mailed'),
      from: 'md',
      cell: ({ mailed_at }) => (mailed_at ? <RelativeTime at={mailed_at} /> : t('people.notMailed')),
    },
    {
      key: 'expires',
      header: t('settings.expires'),
      from: 'sm',
      cell: ({ expires_at }) =>
        isPast(expires_at) ? <StateBadge state="expired" /> : <RelativeTime at={expires_at} />,
    },
    {
      key: 'act',
      header: t('common.actions'),
      align: 'right',
      cell: (one) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button
            size="compact-xs"
            variant="light"
            aria-label={t('people.renewName', { name: one.email || t('people.aLink') })}
            onClick={() => renew(one)}
          >
            {t('people.renew')}
          </Button>
          <EndButton
            label={t('people.revoke')}
            name={t('people.revokeName', { name: one.email || t('people.aLink') })}
            onEnd={() => revoke(one)}
          />
        </Group>
      ),
    },
  ];
}
