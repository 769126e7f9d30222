import type {
  FailureClassEnum,
  PlacementCodeEnum,
  ReasonKindEnum,
  RunEventKindEnum,
  RunFailureCodeEnum,
} from '@/api/schema';

/** The server's sentences about runs, by its codes: every code of the API has one, or the portal does not compile. */
type Words<Code extends string> = Record<Code, string>;

export const failureClass = {
  OOM_HOST: 'Out of memory',
  USER_CODE: 'The code failed',
  COMMAND_NOT_FOUND: 'Command not found',
  DATA_WARMUP: 'Data not available',
  RUNTIME_BUILD: 'Environment not built',
  PREPARATION: 'Not prepared',
  RUNNER_LOST: 'Supervisor lost',
  NODE_LOST: 'Machine lost',
  NODE_DISK: 'Disk of the machine',
  DEADLINE: 'Time limit reached',
  BAD_PARAMETERS: 'Wrong parameters',
  BAD_DATA: 'Data does not fit',
  BAD_MODEL: 'Model does not fit',
  OOM_GPU: 'GPU out of memory',
  RESULT_REFUSED: 'Result refused',
  IMAGE_PULL: 'Image not pulled',
  VOLUME: 'Volume not mounted',
  UNSCHEDULABLE: 'No machine found',
  PREEMPTED: 'Stopped for other work',
  EVICTED: 'Moved off its machine',
  JOB_VANISHED: 'Gone from the cluster',
  GANG_INCOMPLETE: 'Not all nodes in time',
  MOVED: 'Moved to another cluster',
} satisfies Words<FailureClassEnum>;

const podLog =
  'Read the pod’s log in the cluster, or show this to an administrator of the cluster. The run starts again by itself while it has retries left.';

export const failure = {
  out_of_memory: {
    reason: 'The job needed more memory than its limit of {{memory_bytes}} and was stopped.',
    suggestion:
      'Give it more memory (for example {{enough_bytes}}), or use a smaller batch size or fewer data-loading workers.',
  },
  deadline: {
    reason: 'The job was still running after its time limit of {{timeout_s}} and was stopped.',
    suggestion: 'Raise the time limit; a retry goes on from the last saved checkpoint.',
  },
  command_not_found: {
    reason: 'The command “{{command}}” does not exist in the job’s environment, or may not be executed.',
    suggestion:
      'Check its spelling; add the package that brings it to the requirements, or the file to the code that you send.',
  },
  not_prepared: {
    reason:
      'The code, the input files or the checkpoint of the job could not be brought to the machine, so its command was not started: {{said}}',
    suggestion:
      'Retry the run: a storage that was away for a while is the usual cause. If it fails in the same way again, send the code once more, or start from another checkpoint or model.',
  },
  signalled: {
    reason: 'The command was ended by the signal {{signal}}.',
    suggestion: 'Look at the end of its log; a crash in native code leaves no Python traceback.',
  },
  exited: {
    reason: 'The command ended with exit code {{exit_code}}.',
    suggestion:
      'Read the traceback and the end of the log, correct the code or the parameters, and start the run again.',
  },
  exited_with_error: {
    reason: 'The command ended with exit code {{exit_code}}: {{error}}',
    suggestion:
      'Read the traceback and the end of the log, correct the code or the parameters, and start the run again.',
  },
  not_launched: {
    reason: 'The job’s supervisor could not be started: {{said}}',
    suggestion: 'Look at the worker’s log; the run starts again by itself while it has retries left.',
  },
  secrets_missing: {
    reason: 'The run cannot be given a secret that it asks for: {{said}}',
    suggestion: 'Set the secret again, then retry the run.',
  },
  not_mounted: {
    reason: 'A dataset could not be mounted: {{said}}',
    suggestion: 'Read it with the SDK instead: start the run again with its data as packs.',
  },
  nothing_selected: {
    reason: 'No file of {{dataset}} matches the query, the view and the split of the run.',
    suggestion: 'Change the query, the view or the split, or choose another version.',
  },
  no_labels: {
    reason: 'No labels in {{dataset}}: none of the {{files}} files that this run reads has one.',
    suggestion: 'Use the folder names as labels, or label the files. Then start the run with the new version.',
  },
  no_objects: {
    reason: 'No objects in {{dataset}}: none of the {{files}} pictures that this run reads has one.',
    suggestion: 'Draw objects in a label task, or import annotations. Then start the run with the new version.',
  },
  export_differs: {
    reason: 'The ONNX file answers otherwise than the network: by {{score}} in scores and {{pixels}} pixels in boxes.',
    suggestion: 'Retry the run. If it fails again, clone it with a lower learning rate.',
  },
  not_a_detector: {
    reason: 'The model {{model}} has no detector.json of a form that this workflow reads.',
    suggestion: 'Choose a model that the workflow object-detection trained.',
  },
  one_class: {
    reason: 'Only one class in {{dataset}}: all {{labelled}} labelled files are “{{label}}”.',
    suggestion: 'Label files of at least one other class, or choose another version.',
  },
  split_empty: {
    reason: 'No files in the split {{split}} of {{dataset}}.',
    suggestion: 'Make this split, or choose a version or a split that has files.',
  },
  nothing_readable: {
    reason: 'No picture of {{dataset}} can be opened: all {{files}} that this run reads failed.',
    suggestion: 'Look at the files in the dataset and replace them, or choose another version.',
  },
  gpu_out_of_memory: {
    reason: 'The GPU ran out of memory with batches of {{batch_size}} and pictures of {{image_size}} pixels.',
    suggestion: 'Clone the run with a smaller batch size or image size.',
  },
  model_without_description: {
    reason: 'The model {{model}} has no model.json, so this workflow cannot read it.',
    suggestion: 'Choose a model that the workflow image-classification trained.',
  },
  model_of_another_program: {
    reason: 'The model {{model}} has the format {{format}}, which this workflow cannot read.',
    suggestion: 'Choose a model that the workflow image-classification trained.',
  },
  model_damaged: {
    reason: 'The files of the model {{model}} do not fit together: {{error}}',
    suggestion: 'Register the model again, or choose another version of it.',
  },
  no_videos: {
    reason: 'No videos in {{dataset}}: none of its {{files}} files below the chosen folder is one.',
    suggestion: 'Choose a version with videos, or another folder in “Only below”.',
  },
  no_readable_video: {
    reason: 'No video of {{dataset}} can be read: all {{videos}} failed.',
    suggestion: 'The log says why for each. Replace the videos, or choose another version.',
  },
  output_is_input: {
    reason: 'The output {{output}} is the dataset that has the videos.',
    suggestion: 'Clone the run and name another dataset as the output.',
  },
  result_not_pushed: {
    reason: 'The result could not be pushed to {{output}}: {{error}}',
    suggestion: 'Correct what the sentence names, then retry the run.',
  },
  import_refused: {
    reason: 'Nothing was imported from {{source}}: {{error}}',
    suggestion: 'Correct what the sentence names, or import with other choices. Then look again.',
  },
  runner_lost: {
    reason: 'The process that supervised the job is gone, so its end could not be observed.',
    suggestion:
      'Nothing to correct: the run starts again by itself while it has retries left, from its last saved checkpoint.',
  },
  node_lost: {
    reason: 'The machine {{node}} stopped answering while the job ran.',
    suggestion: 'Nothing to correct: the run starts again by itself on another machine.',
  },
  machines_lost: {
    reason:
      'Machines lost in a row: {{count}}. None of these attempts stored a new checkpoint. The job itself may bring its machines down, so it is not started again.',
    suggestion:
      'Look at the memory, the disk and the devices that the job uses, and at the machines. When the cause is gone, retry the run. Checkpoints that it stores more often keep it going.',
  },
  disk_full: {
    reason: 'The disk of the machine was full when the job ended: {{said}}',
    suggestion: 'Have room made on it, then retry the run: it goes on from its last saved checkpoint.',
  },
  disk_read_only: {
    reason: 'The disk of the machine was read-only when the job ended: {{said}}',
    suggestion: 'Have it mounted for writing again, then retry the run: it goes on from its last saved checkpoint.',
  },
  disk_failing: {
    reason: 'The disk of the machine was failing when the job ended: {{said}}',
    suggestion: 'Have it looked at, then retry the run: it goes on from its last saved checkpoint.',
  },
  data_warmup: {
    reason: 'The data of {{dataset}} could not be brought to the machine: {{error}}',
    suggestion: 'Look at the dataset’s cache page; when the cause is gone, retry the run.',
  },
  runtime_build: {
    reason: 'The job’s Python environment could not be built. pip said: {{said}}',
    suggestion: 'Correct the requirements (names, versions, Python version) and start the run again.',
  },
  base_image_denied: {
    reason: 'The registry does not let Atom read the image {{image}}, or has no such image.',
    suggestion:
      'Check the image’s name. If it is private, set the project’s secret DOCKER_AUTH_CONFIG. Then start the run again.',
  },
  base_image_missing: {
    reason: 'The registry has no image {{image}} with the version {{version}}.',
    suggestion: 'Correct the image’s name or tag and start the run again.',
  },
  base_image_unfit: {
    reason: 'The image {{image}} has no version for Linux on {{machine}} that Atom can add to.',
    suggestion: 'Name an image for this processor, pushed in the form of OCI or of Docker’s schema 2.',
  },
  registry_denied: {
    reason: 'The registry {{registry}} did not let Atom push to {{repository}}: {{said}}',
    suggestion:
      'Ask an administrator to correct the credentials in the cluster’s profile, or set the project’s secret DOCKER_AUTH_CONFIG. Then retry the run.',
  },
  registry_full: {
    reason: 'The registry {{registry}} has no room left in {{repository}}: {{said}}',
    suggestion: 'Ask an administrator of the registry for a larger quota, or to delete old images. Then retry the run.',
  },
  registry_away: {
    reason: 'The registry {{registry}} did not answer for over an hour: {{said}}',
    suggestion: 'Check that the registry runs and that Atom’s workers reach it. Then retry the run.',
  },
  registry_not_public: {
    reason: 'The registry {{registry}} is in a network that Atom may not reach: {{said}}',
    suggestion: 'Ask an administrator to list its network in ATOM_REGISTRY_NETWORKS. Then retry the run.',
  },
  registry_refused: {
    reason: 'The registry {{registry}} refused the environment’s image: {{said}}',
    suggestion: 'Show this to an administrator of the registry. Then retry the run.',
  },
  preempted: {
    reason: 'The cluster stopped the job to make room: {{said}}',
    suggestion: 'Nothing to correct: the run starts again by itself, from its last saved checkpoint.',
  },
  evicted: {
    reason: 'The cluster moved the job off its machine: {{said}}',
    suggestion: 'Nothing to correct: the run starts again by itself, from its last saved checkpoint.',
  },
  node_pressure: {
    reason: 'The machine ran short of a resource and stopped the job: {{said}}',
    suggestion: 'Nothing to correct: the run starts again by itself, from its last saved checkpoint.',
  },
  pod_deleted: {
    reason: 'The job’s pod {{pod}} was deleted in the cluster while it ran.',
    suggestion: 'Nothing to correct: the run starts again by itself, from its last saved checkpoint.',
  },
  disrupted: {
    reason: 'The cluster took the job’s machine away: {{said}}',
    suggestion: 'Nothing to correct: the run starts again by itself, from its last saved checkpoint.',
  },
  moved: {
    reason: 'The run was moved to the cluster {{cluster}}.',
    suggestion: 'Nothing to correct: the run goes on there, from its last saved checkpoint.',
  },
  gang_incomplete: {
    reason: 'The cluster had {{joined}} of the {{nodes}} nodes that the run needs at once, after {{waited_s}}.',
    suggestion:
      'Nothing to correct: the nodes are given back, and the run waits for its next turn. Ask for fewer nodes to start sooner.',
  },
  job_vanished: {
    reason: 'The job’s object is gone from the cluster, so its end could not be observed.',
    suggestion:
      'The run starts again by itself while it has retries left. If this happens again, ask an administrator which program deletes it.',
  },
  image_not_pulled: {
    reason: 'The job’s image could not be pulled: {{said}}',
    suggestion: 'Check the image’s name and tag, and that the cluster may read its registry.',
  },
  volume_not_mounted: {
    reason: 'A volume, secret or configuration of the job could not be brought to the machine: {{said}}',
    suggestion: 'Create what the text names, or show it to an administrator of the cluster.',
  },
  unschedulable: {
    reason: 'The cluster found no machine for the job before its time limit: {{said}}',
    suggestion: 'Ask for less, choose other kinds of machines, or wait until other work ends.',
  },
  container_not_started: {
    reason: 'The job’s container could not be started: {{said}}',
    suggestion: 'Check that the image contains the command and may execute it.',
  },
  cluster_ended_it: {
    reason: 'The cluster ended the job, and its objects do not say why: {{said}}',
    suggestion:
      'Show this text to an administrator of the cluster; the run starts again by itself while it has retries left.',
  },
  pod_refused: {
    reason: 'Atom did not accept the job’s pod, so its command was not started: {{said}}',
    suggestion: podLog,
  },
  pod_not_prepared: {
    reason: 'The runner in the job’s pod could not prepare the attempt, so its command was not started: {{said}}',
    suggestion: podLog,
  },
  pod_not_reported: {
    reason: 'The runner in the job’s pod ended, and Atom has no report about the command: {{said}}',
    suggestion: podLog,
  },
} satisfies Record<RunFailureCodeEnum, { reason: string; suggestion: string }>;

/** Kinds whose sentence has a number. */
type Counted = 'mounted' | 'mounted_links' | 'leftovers_ended';
/** These carry a sentence of their cluster. */
type OfCluster = 'rdma_off' | 'data_gate';

export const event = {
  created: '{{user}} started the run.',
  // Said by the placement's own words; these are for records without them.
  placed: 'It was given the machine {{node}}.',
  resumes: 'It resumes from the checkpoint of step {{step}}.',
  waits: 'It has waited for {{minutes}} minutes.',
  runtime: 'Its Python environment is being built; later runs start at once.',
  runtime_built: 'Its Python environment was built in {{took_s}} ({{size_bytes}}).',
  warmed: 'Data and environment are ready on the machine.',
  mounted_one: '{{alias}} is a folder of {{count, number}} file, mounted by {{how}}.',
  mounted_other: '{{alias}} is a folder of {{count, number}} files, mounted by {{how}}.',
  mounted_links_one:
    '{{alias}} is a folder of {{count, number}} file, mounted by {{how}}. Links in it: {{links, number}}; left out, because they lead out of the version: {{links_left_out, number}}.',
  mounted_links_other:
    '{{alias}} is a folder of {{count, number}} files, mounted by {{how}}. Links in it: {{links, number}}; left out, because they lead out of the version: {{links_left_out, number}}.',
  volume: '{{dataset}} is a volume on {{node}}, which has {{present, number}} of its {{total, number}} packs.',
  running: 'The command was started.',
  checkpoint: 'The checkpoint of step {{step}} is safe ({{size_bytes}}).',
  leftovers_ended_one: 'Ended {{count}} process that outlived the command: {{names}}.',
  leftovers_ended_other: 'Ended {{count}} processes that outlived the command: {{names}}.',
  output_refused: 'The file “{{path}}” was refused: its bytes are not what was announced.',
  cancel_requested: '{{user}} asked to cancel the run.',
  cancelling: 'The command is asked to stop; it has ten seconds to save its work.',
  ended: 'The command ended with exit code {{exit_code}}.',
  ended_cancelled: 'The command was stopped because the run was cancelled.',
  retry: 'Attempt {{number}} was lost; the next one starts in {{wait_s}}.',
  retried: '{{user}} asked for another attempt.',
  move_requested: '{{user}} moved the run to the cluster {{cluster}}.',
  place_chosen: 'Atom chose {{cluster}} for the run.',
  no_place: 'No place takes the run now. It waits for one.',
  succeeded: 'The run succeeded.',
  failed: 'The run failed.',
  cancelled: 'The run was cancelled.',
  model_registered: 'Registered as version {{number}} of the model {{model}}.',
  evaluated: 'Version {{number}} of the model {{model}} has {{accuracy}} accuracy on {{split}}.',
  registration_failed: 'The model was not registered: {{said}}',
} satisfies Words<
  Exclude<RunEventKindEnum, Counted | OfCluster> | `${Counted}_one` | `${Counted}_other` | 'ended_cancelled'
>;

export const placement = {
  only_machine: '{{node}} has room for {{demand}}. {{coverage}} of the data is cached.',
  best_fit:
    '{{node}} is the best fit of {{machines}} machines with room for {{demand}}. {{coverage}} of the data is cached.',
  only_machine_no_data: '{{node}} has room for {{demand}}.',
  best_fit_no_data: '{{node}} is the best fit of {{machines}} machines with room for {{demand}}.',
  chosen_cluster: '{{cluster}} is the chosen cluster. It chooses the machine itself.',
  no_place: 'No place takes the run now: it waits for one.',
  no_machine: 'No machine has joined the cluster yet.',
  no_room: 'Waiting for {{demand}}: {{machines}}.',
  none_fits: 'No machine that takes jobs now could hold {{demand}}, even without other runs: {{machines}}.',
  lacks: '{{node}} lacks {{amounts}}',
  closed: '{{node}} does not take jobs now',
} satisfies Words<PlacementCodeEnum | 'only_machine_no_data' | 'best_fit_no_data' | 'lacks' | 'closed'>;

export const amount = {
  cpus_one: '{{count, number}} CPU',
  cpus_other: '{{count, number}} CPUs',
  memory: '{{size}} of memory',
  gpus_one: '{{count, number}} GPU',
  gpus_other: '{{count, number}} GPUs',
};

/** The kinds `resources`, `machines` and `placement` are said by the placement's words, `failed` by the failure's. */
type SaidElsewhere =
  | 'queue'
  | 'passed'
  | 'gang'
  | 'resources'
  | 'machines'
  | 'placement'
  | 'failed'
  | 'rdma_off'
  | 'data_trouble';

export const reason = {
  retry: 'The last attempt was lost; the next one starts at {{at}}.',
  queue_one: '{{count, number}} run is ahead of it in the queue.',
  queue_other: '{{count, number}} runs are ahead of it in the queue.',
  passed_one: '{{count, number}} run ahead of it asks for more than any machine has now; it is not held up by that.',
  passed_other: '{{count, number}} runs ahead of it ask for more than any machine has now; it is not held up by that.',
  data: '{{dataset}}: {{bytes_present}} of {{bytes_total}} are on the machine.',
  data_retry: '{{dataset}}: {{bytes_present}} of {{bytes_total}} are on the machine. The last try failed: {{error}}',
  runtime: 'Its Python environment is being built: {{said}}',
  cancelled: 'The run was cancelled.',
  cluster: '{{cluster}}: {{said}}',
  place: '{{place}}: {{said}}',
  silent: 'The runner has not reported for {{silent_s}}; its pod runs on the ready node {{node}}.',
  node_not_ready: 'The cluster has lost contact with the node {{node}}.',
  data_gate_choosing: 'Nodes for its data are being chosen.',
  data_gate_eta:
    '{{bytes_present}} of {{bytes_total}} of its data are on {{nodes}}; it starts at {{percent}} %. About {{eta_s}} to go.',
  data_gate: '{{bytes_present}} of {{bytes_total}} of its data are on {{nodes}}; it starts at {{percent}} %.',
  gang_turn: 'Another run on several nodes gets its nodes in this cluster first.',
  gang_forming: '{{joined}} of {{nodes}} nodes have started their pod; the command waits for all.',
} satisfies Words<
  | Exclude<ReasonKindEnum, SaidElsewhere>
  | 'queue_one'
  | 'queue_other'
  | 'passed_one'
  | 'passed_other'
  | 'gang_turn'
  | 'gang_forming'
  | 'data_gate_choosing'
  | 'data_gate_eta'
>;

export const reasonAction = {
  queue: 'Wait.',
  resources: 'Wait until a run ends, cancel one, or ask for less.',
  machines: 'Start the worker of a larger machine, let it take jobs again, or ask for less.',
  data: 'Wait; the data is being copied.',
  data_retry: 'Check that the object store is running; the rest is asked for again and again.',
  runtime: 'Wait; runs with the same requirements start at once later.',
  cancelled: 'Retry it to go on.',
  silent: 'Check that the pod reaches Atom. Cancel the run if it does no work any more.',
  node_not_ready: 'Wait: the run starts again elsewhere once its runner is silent too.',
  rdma_off: 'Ask an administrator: the page of the cluster says what is missing.',
  data_gate: 'Wait, or start a copy that starts at once.',
  gang_turn: 'Wait: one run at a time gets its nodes, so that no two hold a part of them each.',
  gang_forming: 'Wait. After {{limit_s}} it gives its nodes back and waits for its next turn.',
} satisfies Partial<Words<ReasonKindEnum | 'gang_turn' | 'gang_forming'>>;
