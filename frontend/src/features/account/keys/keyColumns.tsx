import { Button } from '@mantine/core';
import type { TFunction } from 'i18next';
import type { Column } from '@/shared/grid/DataTable';
import { CutName } from '@/shared/ui/CutName';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { StateBadge } from '@/shared/ui/StateBadge';

/** The fields of every key that a person makes: tokens, S3 key pairs. */
export interface PersonalKey {
  id: string;
  name: string;
  last_used_at: string | null;
  expires_at: string | null;
  created_at: string;
}

interface Revoking<Row> {
  /** Names the button of a row for screen readers. */
  label: (name: string) => string;
  revoke: (row: Row) => void;
}

const isPast = (at: string | null) => at !== null && Date.parse(at) < Date.now();

export function nameColumn<Row extends PersonalKey>(t: TFunction): Column<Row> {
  return {
    key: 'name',
    header: t('settings.tokenName'),
    cell: ({ name }) => <CutName name={name} />,
    sortValue: ({ name }) => name,
  };
}

/** When a key was used, ends and was made, and the button that revokes it. */
export function lifeColumns<Row extends PersonalKey>(t: TFunction, { label, revoke }: Revoking<Row>): Column<Row>[] {
  return [
    {
      key: 'last_used',
      header: t('settings.lastUsed'),
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
      sortValue: ({ last_used_at }) => last_used_at,
    },
    {
      key: 'expires',
      header: t('settings.expires'),
      from: 'sm',
      cell: ({ expires_at }) =>
        isPast(expires_at) ? <StateBadge state="expired" /> : <RelativeTime at={expires_at} />,
      sortValue: ({ expires_at }) => expires_at,
    },
    {
      key: 'created',
      header: t('settings.created'),
      from: 'lg',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
      sortValue: ({ created_at }) => created_at,
    },
    {
      key: 'revoke',
      header: t('common.actions'),
      align: 'right',
      cell: (row) => (
        <Button
          size="compact-xs"
          variant="light"
          color="red"
          aria-label={label(row.name)}
          data-takes-row
          onClick={(event) => {
            focusNeighbour(event.currentTarget);
            revoke(row);
          }}
        >
          {t('settings.revoke')}
        </Button>
      ),
    },
  ];
}
