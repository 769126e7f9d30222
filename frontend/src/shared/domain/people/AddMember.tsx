import { Autocomplete, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedValue } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { NewMember } from '@/api/contract/accounts';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import type { Place } from './place';
import { addMember, useCandidates, useRefreshMembers } from './queries';
import { RoleSelect } from './RoleSelect';

interface AddMemberProps {
  place: Place;
  opened: boolean;
  onClose: () => void;
}

/** Gives somebody who has an account a role; others are invited. */
export function AddMember({ place, opened, onClose }: AddMemberProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('people.add')} size="md">
      <AddForm place={place} onDone={onClose} />
    </Dialog>
  );
}

function AddForm({ place, onDone }: { place: Place; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshMembers(place);
  const form = useForm<NewMember>({
    initialValues: { username: '', role: 'viewer' },
    validate: { username: (value) => (value.trim() ? null : t('people.required')) },
  });
  const [q] = useDebouncedValue(form.values.username.trim(), 200);
  const found = useCandidates(place, q);
  const names = new Map(found.map(({ username, full_name }) => [username, full_name]));
  const send = async ({ username, role }: NewMember) => {
    await addMember(place, { username: username.trim(), role });
    notifySuccess(t('people.added', { name: username.trim() }));
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('people.add')} onCancel={onDone}>
      <Autocomplete
        label={t('people.username')}
        description={t('people.usernameHint')}
        data={[...names.keys()]}
        filter={({ options }) => options}
        renderOption={({ option }) => (
          <Text size="sm">
            {option.value} {names.get(option.value) && <span>({names.get(option.value)})</span>}
          </Text>
        )}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('username')}
      />
      <RoleSelect
        label={t('people.role')}
        description={t(`people.roleHints.${form.values.role}`)}
        {...form.getInputProps('role')}
        value={form.values.role}
        onChange={(role) => form.setFieldValue('role', role)}
      />
    </FormFrame>
  );
}
