import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { Unit } from '@/api/contract/accounts';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { changeUnit, useRefreshTree } from './queries';
import { UnitSelect } from './UnitSelect';

interface ChangeUnitProps {
  opened: boolean;
  onClose: () => void;
  unit: Unit;
}

export function RenameUnit({ opened, onClose, unit }: ChangeUnitProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('people.renameName', { name: unit.name })} size="md">
      <RenameForm unit={unit} onDone={onClose} />
    </Dialog>
  );
}

function RenameForm({ unit, onDone }: { unit: Unit; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshTree();
  const form = useForm({
    initialValues: { name: unit.name },
    validate: { name: (value) => (value.trim() ? null : t('people.required')) },
  });
  const send = async ({ name }: { name: string }) => {
    await changeUnit(unit.id, { name: name.trim() });
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('common.save')} onCancel={onDone}>
      <TextInput label={t('common.name')} autoComplete="off" data-autofocus {...form.getInputProps('name')} />
    </FormFrame>
  );
}

export function MoveUnit({ opened, onClose, unit }: ChangeUnitProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('people.moveName', { name: unit.name })} size="md">
      <MoveForm unit={unit} onDone={onClose} />
    </Dialog>
  );
}

function MoveForm({ unit, onDone }: { unit: Unit; onDone: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshTree();
  const form = useForm({ initialValues: { parent: unit.parent } });
  const send = async ({ parent }: { parent: string | null }) => {
    await changeUnit(unit.id, { parent });
    notifySuccess(t('people.moved', { name: unit.name }));
    await refresh();
    onDone();
  };
  return (
    <FormFrame form={form} send={send} submit={t('people.move')} onCancel={onDone}>
      <UnitSelect
        label={t('people.unitAbove')}
        description={t('people.moveHint')}
        without={unit.id}
        {...form.getInputProps('parent')}
      />
    </FormFrame>
  );
}
