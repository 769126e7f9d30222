import { Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { MadeInvitation, Role } from '@/api/contract/accounts';
import { FormFrame } from '@/shared/forms/FormFrame';
import type { Place } from './place';
import { invite } from './placeQueries';
import { RoleSelect } from './RoleSelect';

const DAYS = [1, 7, 30];

interface InviteFormProps {
  place: Place;
  onMade: (made: MadeInvitation) => Promise<void>;
  onCancel: () => void;
}

export function InviteForm({ place, onMade, onCancel }: InviteFormProps) {
  const { t } = useTranslation();
  const form = useForm({ initialValues: { email: '', role: 'viewer' as Role, days: '7' } });
  const send = async ({ email, role, days }: typeof form.values) =>
    onMade(await invite(place, { email: email.trim(), role, days: Number(days) }));
  return (
    <FormFrame form={form} send={send} submit={t('people.invite')} onCancel={onCancel}>
      <TextInput
        label={t('people.email')}
        description={t('people.inviteEmailHint')}
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('email')}
      />
      <RoleSelect
        label={t('people.role')}
        description={t(`people.roleHints.${form.values.role}`)}
        value={form.values.role}
        onChange={(role) => form.setFieldValue('role', role)}
      />
      <Select
        label={t('settings.expires')}
        data={DAYS.map((count) => ({ value: String(count), label: t('settings.days', { count }) }))}
        allowDeselect={false}
        {...form.getInputProps('days')}
      />
    </FormFrame>
  );
}
