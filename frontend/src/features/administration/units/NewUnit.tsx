import { Select, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useRights } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { createUnit, useOrganisations, useRefreshTree } from './queries';
import { UnitSelect } from './UnitSelect';

interface NewUnitProps {
  opened: boolean;
  onClose: () => void;
  /** The unit above, unless it is to be chosen. */
  parent?: string;
}

interface Values {
  name: string;
  parent: string | null;
  organisation: string | null;
}

export function NewUnit({ opened, onClose, parent }: NewUnitProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('people.newUnit')} size="md">
      <NewUnitForm parent={parent} onDone={onClose} />
    </Dialog>
  );
}

function NewUnitForm({ parent, onDone }: { parent?: string; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshTree();
  const { installation } = useRights();
  const organisations = useOrganisations(installation && parent === undefined);
  const form = useForm<Values>({
    initialValues: { name: '', parent: parent ?? null, organisation: null },
    validate: {
      name: (value) => (value.trim() ? null : t('people.required')),
      parent: (value, { organisation }) => (value || organisation ? null : t('people.chooseUnit')),
    },
  });
  const send = async ({ name, parent: above, organisation }: Values) => {
    const where = above ? { parent: above } : { organisation: organisation ?? undefined };
    await createUnit({ name: name.trim(), ...where });
    notifySuccess(t('people.unitMade', { name: name.trim() }));
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.create')} onCancel={onDone}>
      <TextInput
        label={t('common.name')}
        description={t('people.unitHint')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      {parent === undefined && (
        <UnitSelect label={t('people.unitAbove')} clearable={installation} {...form.getInputProps('parent')} />
      )}
      {parent === undefined && installation && !form.values.parent && (
        <Select
          label={t('people.organisation')}
          description={t('people.organisationHint')}
          data={organisations.map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps('organisation')}
        />
      )}
    </FormFrame>
  );
}
