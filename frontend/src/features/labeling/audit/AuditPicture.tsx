import { Alert, Badge, Button } from '@mantine/core';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditSlot, LabelTask } from '@/api/contract/labeling';
import { AnchorLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { notifyError, notifySuccess, notifyWarning } from '@/shared/ui/undo';
import { visible } from '@/shared/ui/visible';
import type { Editor } from '../canvas/editor';
import { EMPTY_CLIPBOARD } from '../canvas/edits';
import { emptyDocument } from '../canvas/model';
import { asDocument, canonical } from '../objects/documents';
import type { DocumentProblem } from '../objects/documentTable';
import { historyOf } from '../objects/editing';
import { IssuesPanel } from '../objects/IssuesPanel';
import type { ImageCache } from '../objects/imageCache';
import { marksOf } from '../objects/issues';
import { PLAIN } from '../objects/look';
import classes from '../objects/objects.module.css';
import { missingInDocument, ontologyOfTask, withoutUnasked } from '../objects/ontology';
import { Problems } from '../objects/Problems';
import { problemsOfResult, refusalOf } from '../objects/problems';
import { SidePanel } from '../objects/SidePanel';
import { Stage } from '../objects/Stage';
import { toolsOfTask } from '../objects/tools';
import { useCanvasEditor } from '../objects/useCanvasEditor';
import { useDrawing } from '../objects/useDrawing';
import { useKeymap } from '../objects/useKeymap';
import { useObjectKeys } from '../objects/useObjectKeys';
import { usePicture, wholePicture } from '../objects/usePicture';
import { useTiles } from '../objects/useTiles';
import { useValueWindow, ValueWindowControl } from '../objects/ValueWindowControl';
import { sendAudit } from '../queries';
import { TaskNotice } from '../TaskNotice';
import { decisionOf, saysWhy, useOpinion } from './opinion';
import { PreLabelLine } from './PreLabelLine';
import { Verdict } from './Verdict';

interface AuditPictureProps {
  person: string;
  task: LabelTask;
  slot: AuditSlot;
  left: number;
  lost: number;
  upcoming: readonly string[];
  images: ImageCache;
  onDecided: () => void;
}

/** One picture under audit: accept it, send it back with remarks, or correct it. */
export function AuditPicture(props: AuditPictureProps) {
  const { person, task, slot, left, lost, upcoming, images, onDecided } = props;
  const { t } = useTranslation();
  const ontology = useMemo(() => ontologyOfTask(task), [task]);
  const { opinion, change, forget } = useOpinion(person, slot);
  const [correcting, setCorrecting] = useState(opinion.corrected !== null);
  const [sending, setSending] = useState(false);
  const [problems, setProblems] = useState<DocumentProblem[]>([]);
  const [showMissing, setShowMissing] = useState(false);
  const [isPlacing, setPlacing] = useState(false);
  const isSending = useRef(false);
  const clipboard = useRef(EMPTY_CLIPBOARD);
  const stage = useRef<HTMLDivElement>(null);
  const [keymap] = useKeymap();
  const submitted = asDocument(slot.document) ?? emptyDocument(slot.width ?? 0, slot.height ?? 0);
  const latest = useRef(change);
  latest.current = change;
  const onChange = useCallback((editor: Editor) => {
    latest.current({ corrected: { document: editor.document, history: historyOf(editor) } });
  }, []);
  const begun = opinion.corrected ?? { document: submitted, history: null };
  const canvas = useCanvasEditor({ id: slot.slot_id, ...begun, clipboard, readOnly: !correcting, onChange });
  const { editing, controller, follow } = canvas;
  const drawing = useDrawing(ontology, editing);
  const address = wholePicture(slot);
  const image = usePicture(images, address, upcoming);
  const tiles = useTiles(slot.item_id, slot.tiled);
  const [valueWindow, setValueWindow] = useValueWindow(task.id);
  const look = useMemo(() => ({ ...PLAIN, window: valueWindow }), [valueWindow]);

  const decide = async (verdict: 'accept' | 'return') => {
    if (isSending.current) return;
    const corrected = correcting && opinion.corrected ? canonical(withoutUnasked(editing.document, ontology)) : null;
    const [first] = corrected ? missingInDocument(corrected, ontology) : [];
    setShowMissing(first !== undefined);
    if (first) {
      editing.do({ type: 'select', ids: first.object === null ? [] : [first.object] });
      return;
    }
    if (verdict === 'return' && !saysWhy(opinion)) {
      notifyWarning(t('labeling.objects.audit.needsRemark'));
      return;
    }
    isSending.current = true;
    setSending(true);
    try {
      const [result] = await sendAudit([decisionOf(slot, verdict, opinion, corrected, editing.selected[0] ?? null)]);
      // The correction stays until it can be accepted.
      const refused = corrected && result ? problemsOfResult(result) : [];
      setProblems(refused);
      if (refused.length > 0) return;
      if (result && !result.ok) notifyWarning(refusalOf(result) || t('labeling.objects.audit.stale'));
      else if (verdict === 'return') notifySuccess(t('labeling.objects.audit.returned'));
      else notifySuccess(t(corrected ? 'labeling.objects.audit.correctedDone' : 'labeling.objects.audit.accepted'));
      forget();
      onDecided();
    } catch (error) {
      notifyError(error);
    } finally {
      isSending.current = false;
      setSending(false);
    }
  };
  const stopCorrecting = () => {
    controller?.dispatch({ type: 'open', document: submitted });
    follow();
    change({ corrected: null });
    setProblems([]);
    setShowMissing(false);
    setCorrecting(false);
  };
  const startPlacing = () => {
    setPlacing(true);
    stage.current?.querySelector<HTMLElement>('[role=application]')?.focus({ preventScroll: true });
  };
  const place = (at: [number, number]) => {
    setPlacing(false);
    change({ at });
    stage.current?.querySelector<HTMLElement>('[data-remark]')?.focus();
  };
  useShortcuts([
    { keys: 'A', label: t('labeling.objects.audit.accept'), run: () => void decide('accept') },
    { keys: 'R', label: t('labeling.objects.audit.return'), run: () => void decide('return') },
    { keys: 'C', label: t('labeling.objects.audit.correct'), run: () => setCorrecting(true) },
    ...(correcting ? [] : [{ keys: 'P', label: t('labeling.objects.audit.place'), run: startPlacing }]),
  ]);
  useObjectKeys({
    enabled: correcting,
    controller,
    keymap,
    labels: ontology.labels,
    stage: () => stage.current,
    onCommand: drawing.onCommand,
    onLabel: drawing.onLabel,
    onCanvas: follow,
  });
  const issues = slot.issues ?? [];
  const missing = showMissing ? missingInDocument(editing.document, ontology).length : 0;
  return (
    <Page fill>
      <PageHeader
        title={t('labeling.audit.of', { name: task.name })}
        above={
          <AnchorLink to="/labeling/$taskId" params={{ taskId: task.id }} size="xs">
            {t('labeling.work.toTask')}
          </AnchorLink>
        }
        badges={<Badge color="grape">{t('labeling.objects.audit.left', { count: left })}</Badge>}
        subtitle={t('labeling.audit.byLabeler', { path: visible(slot.path), name: slot.labeler })}
      >
        <ValueWindowControl source={tiles.source} window={valueWindow} onChange={setValueWindow} />
        {correcting ? (
          <Button variant="default" onClick={stopCorrecting}>
            {t('labeling.objects.audit.stopCorrecting')}
          </Button>
        ) : (
          <Button variant="default" aria-keyshortcuts="C" onClick={() => setCorrecting(true)}>
            {t('labeling.objects.audit.correct')}
          </Button>
        )}
        <Button
          variant="default"
          color="orange"
          aria-keyshortcuts="R"
          disabled={sending || correcting}
          onClick={() => void decide('return')}
        >
          {t('labeling.objects.audit.return')}
        </Button>
        <Button aria-keyshortcuts="A" loading={sending} onClick={() => void decide('accept')}>
          {t(correcting ? 'labeling.objects.audit.acceptCorrected' : 'labeling.objects.audit.accept')}
        </Button>
      </PageHeader>
      <TaskNotice task={task} />
      {lost > 0 && (
        <Alert color="orange" variant="light" mb="sm" role="status">
          {t('labeling.audit.lost', { count: lost })}
        </Alert>
      )}
      {correcting && (
        <Alert variant="light" mb="sm" py={6} role="status">
          {t('labeling.objects.audit.correcting')}
        </Alert>
      )}
      <Problems problems={problems} editing={editing} />
      {missing > 0 && (
        <Alert color="orange" variant="light" mb="sm" py={6} role="alert">
          {t('labeling.objects.missing', { count: missing })}
        </Alert>
      )}
      <div className={classes.layout} ref={stage}>
        <Stage
          name={visible(slot.path)}
          tools={toolsOfTask(ontology)}
          keymap={keymap}
          ontology={ontology}
          canvas={canvas}
          image={image}
          tiles={tiles}
          drawing={drawing}
          look={look}
          readOnly={!correcting}
          marks={[
            ...problems.flatMap(({ at }) => (at ? [{ at, isOpen: true }] : [])),
            ...marksOf([...issues, ...opinion.issues], editing.document),
            ...(opinion.at ? [{ at: opinion.at, isOpen: true, name: '+' }] : []),
          ]}
          onPlace={isPlacing && !correcting ? ([x, y]) => place([x, y]) : undefined}
          onWindow={setValueWindow}
          onReload={() => images.load(address)}
        />
        <SidePanel
          picture={slot.slot_id}
          editing={editing}
          ontology={ontology}
          activeLabel={drawing.label}
          showMissing={showMissing}
          withIssue={new Set([...issues, ...opinion.issues].flatMap(({ object }) => object ?? []))}
          guideline={task.guideline}
          onLabel={drawing.onLabel}
        >
          <PreLabelLine edits={slot.pre_label_edits} />
          {issues.length > 0 && <IssuesPanel slot={slot} editing={editing} />}
          {!correcting && (
            <Verdict
              opinion={opinion}
              editing={editing}
              ontology={ontology}
              first={issues.length + 1}
              isPlacing={isPlacing}
              onPlacing={(next) => (next ? startPlacing() : setPlacing(false))}
              onChange={change}
            />
          )}
        </SidePanel>
      </div>
    </Page>
  );
}
