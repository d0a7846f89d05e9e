/*
 * The options that each command takes, in the order of its help, with OPTION_END at the end.
 */
#pragma once

#include "commands/command.h"
#include "options/option.h"

extern const enum option_id energy_record_options[];
extern const enum option_id energy_summary_options[];
extern const enum option_id energy_curve_options[];
extern const enum option_id execute_options[];
extern const struct option_group run_groups[];
extern const struct option_group why_groups[];
extern const struct option_group attach_groups[];
extern const struct option_group serve_groups[];
extern const enum option_id why_options[];
extern const enum option_id run_options[];
extern const enum option_id attach_options[];
extern const enum option_id live_options[];
extern const enum option_id serve_options[];
extern const enum option_id report_options[];
extern const enum option_id bench_options[];
extern const struct option_group bench_groups[];
extern const enum option_id compare_runs_options[];
extern const enum option_id job_options[];
extern const enum option_id history_options[];
extern const enum option_id size_options[];
extern const enum option_id plot_options[];
extern const enum option_id push_options[];
extern const enum option_id show_options[];
extern const enum option_id doctor_options[];
extern const enum option_id gpus_options[];
extern const enum option_id analyze_options[];
extern const enum option_id compare_options[];
extern const enum option_id combine_options[];
extern const enum option_id mark_options[];
extern const enum option_id timeline_merge_options[];
extern const enum option_id profile_job_options[];
extern const enum option_id profile_steps_options[];
extern const enum option_id profile_phases_options[];
extern const enum option_id profile_utilization_options[];
extern const enum option_id profile_devices_options[];
extern const enum option_id profile_dataloader_options[];
extern const enum option_id profile_rows_options[];
extern const enum option_id profile_kineto_options[];
extern const enum option_id profile_kineto_top_options[];
extern const enum option_id profile_python_options[];
extern const enum option_id help_options[];
